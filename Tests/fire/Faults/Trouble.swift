/// What goes on doing harm to a cluster while clients work with it.
protocol Trouble: Sendable {
    /// Kinds of faults that this machine does not allow, with the reason.
    var leftOut: [String] { get }
    /// Whether any kind of fault is possible.
    var isPossible: Bool { get }
    /// How long clients had to wait, by kind of fault; empty where faults overlap.
    var outages: [String: Outage] { get }
    /// What of the cluster did not come back, in words.
    var findings: [String] { get }
    /// Whether nothing more is to be done, however much time there is.
    var isOver: Bool { get }

    /// Does the next harm and undoes it.
    ///
    /// - Returns: the kinds of faults.
    mutating func strike() async -> [String]
}

extension Trouble {
    var isOver: Bool { false }
}

/// How long clients had to wait for the cluster because of one kind of fault.
struct Outage: Codable, Sendable {
    var times = 0
    /// How long the longest fault of the kind lasted, in seconds.
    var longestFault = 0.0
    /// The longest that a change of a client that was online waited for its acknowledgement, in seconds.
    var longestWait = 0.0

    mutating func add(fault: Double, wait: Double) {
        times += 1
        longestFault = max(longestFault, fault)
        longestWait = max(longestWait, wait)
    }
}

/// Faults of processes, of the one broker and of the one disk, one or two at a time.
struct ProcessTrouble: Trouble {
    let leftOut: [String]
    let isPossible: Bool
    let outages: [String: Outage] = [:]
    let findings: [String] = []
    private let arsonist: Arsonist
    private var plan: FaultPlan<Fault>

    init(arsonist: Arsonist, seed: UInt64, faults: [Fault], stretch: Double) {
        self.arsonist = arsonist
        let (faults, missing) = Arsonist.possible(faults, on: arsonist.cluster)
        leftOut = missing
        isPossible = !faults.isEmpty
        plan = FaultPlan(seed: seed, faults: faults, stretch: stretch)
    }

    mutating func strike() async -> [String] {
        let steps = plan.next()
        await arsonist.perform(steps)
        return steps.map(\.fault.rawValue)
    }
}
