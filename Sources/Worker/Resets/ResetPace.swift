import Messages
import Storage
import SyncModel

/// How fast the client realms that a termination has reset may fetch their fresh copies from one slice.
///
/// All of them come within seconds, and each costs its owner a whole realm. So their return is spread over a time that
/// grows with their number: each user's client realm has a place in that time, which the owner computes and need not
/// remember. A client that is told to wait waits up to a quarter less (docs/protocol.md, "Timers and backoff"); it is
/// let in from three quarters of its place on, so nobody is told twice.
package struct ResetPace: Equatable {
    let generation: UInt64
    /// Milliseconds: when the first of them came, by the clock that nobody can move, and how long all of them may take.
    let startedAt: UInt64
    let window: UInt64

    package init(generation: UInt64, startedAt: UInt64, clientRealms: Int, limits: WorkerLimits) {
        self.generation = generation
        self.startedAt = startedAt
        let seconds = UInt64(clamping: clientRealms / max(1, limits.resetsPerSecond))
        window =
            clientRealms <= limits.resetsAtOnce
            ? 0 : min(seconds, limits.maxResetSpread.milliseconds / 1000) * 1000
    }

    /// How many seconds the client realm must wait for its turn at `now`; nil if it need not.
    package func wait(user: String, partition: String, at now: UInt64) -> Int? {
        let elapsed = now &- min(now, startedAt)
        guard elapsed < window else { return nil }
        let due = window / 1024 * Self.place(user, partition)
        guard elapsed < due - due / 4 else { return nil }
        return Int(clamping: (due - elapsed + 999) / 1000)
    }

    /// Returns a client realm's place in the order of resets, from 0 to 1023.
    private static func place(_ user: String, _ partition: String) -> UInt64 {
        let hash = FNV1a.hash64("\(user)/\(partition)".utf8)
        // FNV alone mixes the last bytes badly.
        return ((hash ^ (hash >> 32)) &* 0x9E37_79B9_7F4A_7C15) >> 54
    }
}

/// The paces of the apps that were terminated since an owner took its slice.
struct ResetPaces {
    /// The number of apps at which all paces begin anew.
    private static let maxApps = 1_000
    private var paces: [String: ResetPace] = [:]
    /// Apps of whose client realms it is not known yet how many reset.
    private var estimates: Set<String> = []

    func isEstimate(of app: String) -> Bool { estimates.contains(app) }

    func pace(of app: String, in generation: UInt64) -> ResetPace? {
        paces[app].flatMap { $0.generation == generation ? $0 : nil }
    }

    mutating func keep(_ pace: ResetPace, of app: String, isEstimate: Bool = false) {
        if paces.count >= Self.maxApps { (paces, estimates) = ([:], []) }
        paces[app] = pace
        if isEstimate { estimates.insert(app) } else { estimates.remove(app) }
    }
}

extension SessionRequests {
    /// How many seconds a client that resets must wait before it may bind its fresh copy; nil if it need not.
    func turn(of request: BindRequest, app: AppRecord, in context: RealmContext) async throws -> Int? {
        let generation = try await work.generation(of: app)
        guard let campaign = generation.campaign else { return nil }
        let now = clock.uptime()
        // While a termination marks them, the campaign has fewer than there are; all of the app's are no fewer.
        let isMarking = work.memory.terminations[app.id].map { !$0.isMarked } ?? false
        let known = work.memory.paces.pace(of: app.id, in: generation.generation)
        let pace: ResetPace
        if let known, isMarking || !work.memory.paces.isEstimate(of: app.id) {
            pace = known
        } else {
            let count =
                isMarking
                ? try await store.usage(ofApp: app.id).clientFiles
                : try await store.countClientFiles(campaign: campaign)
            pace = ResetPace(
                generation: generation.generation, startedAt: known?.startedAt ?? now, clientRealms: count,
                limits: limits)
            work.memory.paces.keep(pace, of: app.id, isEstimate: isMarking)
        }
        guard let seconds = pace.wait(user: request.user, partition: context.name.partition, at: now) else {
            return nil
        }
        // Clients that are new, and not resetting, wait for nobody.
        return try await work.resets(of: request.user, in: context).waiting.isEmpty ? nil : seconds
    }
}
