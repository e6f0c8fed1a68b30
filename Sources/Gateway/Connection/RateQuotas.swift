import Storage
import SyncModel
import Synchronization

/// Judges what clients begin and upload by the quotas of a second: of the user first, then of the app.
///
/// Ten seconds' worth may come at once. What comes faster for longer is taken, but its socket is not read for a moment; and what
/// would have to wait for more than two seconds is refused for now, so that many sockets of one user cannot queue up without end.
final class RateQuotas: Sendable {
    /// An act of a client that is counted.
    struct Act: Sendable {
        static let connect = Act(ofUser: .userConnects, ofApp: .connects)
        static let bind = Act(ofUser: .userBinds, ofApp: .binds)
        static let upload = Act(ofUser: .userUploads, ofApp: .uploads)

        fileprivate var ofUser: Quota
        fileprivate var ofApp: Quota
    }

    enum Verdict: Sendable {
        case goOn
        /// Taken; the socket rests before it is read again.
        case rest(Duration, Quota)
        case refuse(Quota, limit: Int, seconds: Int)
    }

    static let burstSeconds = 10.0
    static let maxRestSeconds = 2.0
    /// The number of buckets, those of users and of apps together, at which some are forgotten.
    static let maxKeys = 20_000

    private struct Bucket {
        /// The acts that may be done at once; below 0, those that were taken ahead.
        var tokens: Double
        var at: UInt64
    }

    private struct Key: Hashable {
        var quota: Quota
        /// The user whose bucket it is; the bucket is the app's if there is no user.
        var who: AppUser
    }

    private let settings: QuotaValues
    private let clock: GatewayClock
    private let buckets = Mutex<[Key: Bucket]>([:])

    /// Buckets that are remembered.
    var count: Int { buckets.withLock { $0.count } }

    init(settings: QuotaValues, clock: GatewayClock) {
        self.settings = settings
        self.clock = clock
    }

    /// - Parameter app: nil if its settings cannot be told at the moment.
    func judge(_ act: Act, of user: AppUser, in app: AppRecord?) -> Verdict {
        let ofUser = app?.quotas[act.ofUser] ?? settings[act.ofUser] ?? act.ofUser.standard
        let ofApp = app?.quotas[act.ofApp] ?? settings[act.ofApp] ?? act.ofApp.standard
        let now = clock.unixMilliseconds()
        return buckets.withLock { buckets in
            if buckets.count >= Self.maxKeys { Self.trim(&buckets, now) }
            let userKey = Key(quota: act.ofUser, who: user)
            let appKey = Key(quota: act.ofApp, who: AppUser(app: user.app, user: ""))
            var userBucket = Self.filled(buckets[userKey], ofUser, now)
            var appBucket = Self.filled(buckets[appKey], ofApp, now)
            let userWait = (1 - userBucket.tokens) / Double(ofUser)
            let appWait = (1 - appBucket.tokens) / Double(ofApp)
            let (wait, quota, limit) =
                userWait >= appWait ? (userWait, act.ofUser, ofUser) : (appWait, act.ofApp, ofApp)
            // A refusal is noted, too: time goes on from it, also if the clock was put back.
            defer {
                buckets[userKey] = userBucket
                buckets[appKey] = appBucket
            }
            guard wait <= Self.maxRestSeconds else {
                return .refuse(quota, limit: limit, seconds: Int(wait.rounded(.up)))
            }
            userBucket.tokens -= 1
            appBucket.tokens -= 1
            return wait > 0 ? .rest(.milliseconds(Int(wait * 1000) + 1), quota) : .goOn
        }
    }

    private static func filled(_ known: Bucket?, _ perSecond: Int, _ now: UInt64) -> Bucket {
        let full = max(1, Double(perSecond) * burstSeconds)
        guard var bucket = known else { return Bucket(tokens: full, at: now) }
        let elapsed = now > bucket.at ? Double(now - bucket.at) / 1000 : 0
        bucket.tokens = min(full, bucket.tokens + elapsed * Double(perSecond))
        bucket.at = now
        return bucket
    }

    /// Forgets who has done nothing for as long as it takes to have everything again, and if need be half of the rest: a flood of
    /// users must not grow the table, and forgetting only forgives.
    private static func trim(_ buckets: inout [Key: Bucket], _ now: UInt64) {
        let patience = UInt64((burstSeconds + maxRestSeconds) * 1000)
        buckets = buckets.filter { now < $0.value.at &+ patience }
        guard buckets.count > maxKeys / 2 else { return }
        for key in buckets.keys.prefix(buckets.count / 2) { buckets[key] = nil }
    }
}
