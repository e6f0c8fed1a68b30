import Messages
import Query
import RealmState
import SyncModel
import Synchronization
import Views

/// The flexible realms with sessions at this gateway, and which of these sessions a commit concerns.
final class FlexibleFans: Sendable {
    private struct Fan {
        var fan = ViewFan()
        var generation: UInt64 = 0
        /// When an owner was last asked for the schema.
        var schemaAsked: UInt64?
        /// When all sessions were last told where the realm stands.
        var swept: UInt64?
    }

    /// One realm's.
    private final class Holder: Sendable {
        let fan = Mutex(Fan())
        let allowance: EvaluationAllowance

        init(_ limits: EvaluationLimits) { allowance = EvaluationAllowance(limits) }
    }

    /// Letters to sessions.
    struct Letters {
        var sessions: [UInt64]
        var event: SessionEvent
    }

    /// Milliseconds between two times that sessions that hear of nothing are told how far they are.
    static let sweepInterval: UInt64 = 300_000
    /// Milliseconds in which the owner may answer with the schema before another session asks for it.
    private static let schemaPatience: UInt64 = 1_000

    private let realms = Mutex<[RealmName: Holder]>([:])
    private let clock: GatewayClock
    private let limits: EvaluationLimits
    private let metrics: GatewayMetrics?
    /// The budget of all realms together.
    private let allowance: EvaluationAllowance

    /// Realms that may take all that they may at the same time.
    private static let realmsAtOnce = 3

    init(clock: GatewayClock, limits: EvaluationLimits = EvaluationLimits(), metrics: GatewayMetrics? = nil) {
        self.clock = clock
        self.limits = limits
        self.metrics = metrics
        allowance = EvaluationAllowance(limits, times: Self.realmsAtOnce)
    }

    private func holder(_ realm: RealmName) -> Holder? { realms.withLock { $0[realm] } }

    /// A session that has asked for it leaves the realm in the end, and the last one takes the holder along.
    private func holding(_ realm: RealmName) -> Holder {
        realms.withLock { realms in
            if let known = realms[realm] { return known }
            let new = Holder(limits)
            realms[realm] = new
            return new
        }
    }

    // MARK: Sessions

    /// A session has everything up to a version.
    ///
    /// - Returns: where the realm stands as far as this gateway has heard.
    func follow(
        _ number: UInt64, _ following: Following, of realm: RealmName
    ) -> ServerVersion {
        let holder = holding(realm)
        let preparation = holder.fan.withLock { fan in
            following.generation == fan.generation
                ? fan.fan.preparation(for: number, following.definition, of: following.schemaVersion) : nil
        }
        // Not under the lock: reading a long query takes longer than others of the realm should wait.
        let prepared = preparation?.made()
        return holder.fan.withLock { fan in
            if following.generation > fan.generation { fan = Fan(generation: following.generation) }
            guard following.generation == fan.generation else { return 0 }
            return fan.fan.follow(
                number, file: following.clientFile, following.definition, of: following.schemaVersion,
                at: following.version, prepared: prepared)
        }
    }

    /// The memory that a session's set takes, about, in bytes.
    func bytes(of number: UInt64, in realm: RealmName) -> Int {
        holder(realm)?.fan.withLock { $0.fan.bytes(of: number) } ?? 0
    }

    func leave(_ number: UInt64, of realm: RealmName) {
        // Under the lock of all realms: nobody may begin to follow one that is about to be forgotten.
        realms.withLock { realms in
            guard let holder = realms[realm] else { return }
            let isEmpty = holder.fan.withLock { fan in
                fan.fan.leave(number)
                return fan.fan.isEmpty
            }
            if isEmpty { realms[realm] = nil }
        }
    }

    // MARK: Schema

    /// What a request for a page says of the schema: the one that is known; nil while another request asks for it.
    func knownSchema(of realm: RealmName) -> UInt64? {
        let now = clock.unixMilliseconds()
        return holding(realm).fan.withLock { fan in
            if fan.fan.stamp == 0, let asked = fan.schemaAsked, now < asked &+ Self.schemaPatience { return nil }
            fan.schemaAsked = now
            return fan.fan.stamp
        }
    }

    func learn(_ schema: ViewSchema, of realm: RealmName) {
        guard let read = try? Schema(decoding: schema.body) else { return }
        holder(realm)?.fan.withLock { $0.fan.learn(read, stamp: schema.stamp) }
    }

    // MARK: Notices

    /// Returns the letters to the sessions that a notice concerns. Called by one task, which delivers the letters before the next notice:
    /// what sessions are told comes in the order of versions.
    func take(_ notice: IntegratedNotice) -> [Letters] {
        guard let holder = holder(notice.realm) else { return [] }
        let now = clock.unixMilliseconds()
        let rest = min(holder.allowance.rest(at: now), allowance.rest(at: now))
        return holder.fan.withLock { fan in
            guard notice.generation >= fan.generation else { return [] }
            // Sessions of an earlier one are told to reset.
            if notice.generation > fan.generation { fan = Fan(generation: notice.generation) }
            let contents = NoticeContents(notice, limits)
            let outcome: ViewFan.Outcome
            if let stretch = contents.stretch, let objects = notice.objects {
                let changed = objects.changedSchema.isEmpty ? nil : try? Schema(decoding: objects.changedSchema)
                outcome = fan.fan.take(
                    stretch, schema: (objects.schema, changed), allowance: .init(limits, together: rest))
                for allowance in [holder.allowance, allowance] { allowance.take(outcome.steps) }
                metrics?.tooDear(outcome.tooDear, app: notice.realm.app)
            } else {
                outcome = fan.fan.pass(to: notice.latest.version, answering: notice.acknowledgements.map(\.clientFile))
            }
            var letters = outcome.groups.map {
                Letters(sessions: $0.sessions, event: .viewed(ViewedNotice(contents, for: $0)))
            }
            if !outcome.lost.isEmpty {
                letters.append(Letters(sessions: outcome.lost, event: .viewed(ViewedNotice(contents, for: nil))))
            }
            if now >= (fan.swept ?? now) &+ Self.sweepInterval {
                letters.append(Letters(sessions: fan.fan.numbers, event: .stands(notice.latest)))
                fan.swept = now
            }
            fan.swept = fan.swept ?? now
            return letters
        }
    }
}

/// Where a session stands as it begins to follow its realm.
struct Following: Sendable {
    var clientFile: FileIdent
    var definition: ViewDefinition
    /// The schema version of the client's copy; nil if the copy has the realm's schema as it is.
    var schemaVersion: SchemaVersion?
    var version: ServerVersion
    var generation: UInt64
}
