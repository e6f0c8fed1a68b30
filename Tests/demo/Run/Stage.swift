import LocalCluster

/// The cluster that the story is told with: where its parts are, and what is taken away from it while clients write.
protocol Stage: Sendable {
    var cluster: LocalCluster { get }
    /// What the cluster consists of, as a chapter's title.
    var title: String { get }
    /// What is going to be taken away, as a chapter's title.
    var threat: String { get }
    /// What takes over then.
    var relief: String { get }
    /// What somebody in another shell must enter first, if anything.
    var wayIn: String? { get }

    /// Starts everything; ready when it returns.
    func start() async throws

    /// Takes away what the worker is a part of.
    ///
    /// - Returns: what was done, in a line.
    func strike(worker: String) async throws -> String

    /// Puts back what was taken away: right after the load, if that is all that is to be shown without it.
    ///
    /// - Returns: what was done; nil if there is nothing to tell, or nothing to put back yet.
    func mend(atTheEnd: Bool) async throws -> String?

    func stop() async
}
