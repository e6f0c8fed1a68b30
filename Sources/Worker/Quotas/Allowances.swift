import Storage
import SyncModel

/// Judges what sessions want to add to the slice by the quotas of the app and of the user.
struct Allowances: SlicePart {
    let work: SliceWork

    /// What is wanted, of whom.
    struct Wish {
        var realms = 0
        var clientFiles = 0
        var bytes = 0
        /// The bytes only take something away: they may go an eighth beyond a quota, so that there is a way back from it.
        var removes = false

        func limit(_ limit: Int) -> Int { removes && limit < .max / 2 ? limit + limit / 8 : limit }
    }

    /// Notes what a message adds, if it may.
    ///
    /// - Throws: the `Refusal` if it may not; nothing is noted then.
    func take(_ wish: Wish, of user: AppUser, in app: AppRecord) async throws {
        typealias Asked = (
            quota: Quota, userQuota: Quota, total: KeyPath<AppUsage, Int>, own: KeyPath<UsageAmounts, Double>,
            count: Int
        )
        let kinds: [Asked] = [
            (.realms, .userRealms, \.realms, \.realms, wish.realms),
            (.clientFiles, .userClientFiles, \.clientFiles, \.clientFiles, wish.clientFiles),
            (.bytes, .userBytes, \.bytes, \.bytes, wish.bytes),
        ]
        let asked = kinds.filter { $0.count > 0 }
        guard !asked.isEmpty else { return }
        let ofApp = try await usage(ofApp: app.id)
        var isDue = false
        for (quota, userQuota, total, own, count) in asked {
            let limit = app.limit(of: quota, by: limits.quotas)
            guard ofApp[keyPath: total] + count <= wish.limit(limit) else { throw refusal(quota, limit, of: user) }
            let userLimit = app.limit(of: userQuota, by: limits.quotas)
            let known = work.memory.usage.user(user)
            let added = known.unsaved[keyPath: own] + Double(count)
            let isNoticeable = added >= Double(userLimit) / UsageLedger.noticeable
            guard isNoticeable || known.stored != nil else { continue }
            let before = try await stored(of: user)?[keyPath: own] ?? 0
            guard before + added <= Double(wish.limit(userLimit)) else { throw refusal(userQuota, userLimit, of: user) }
            isDue = isDue || isNoticeable
        }
        let amounts = UsageAmounts(
            realms: Double(wish.realms), clientFiles: Double(wish.clientFiles), bytes: Double(wish.bytes))
        work.stage { $0.usage[user, default: UsageAmounts()] += amounts }
        if isDue { work.writeUsage(of: user) }
    }

    /// Notes what a message adds that nobody could know before: the next wish goes by it.
    func note(bytes: Int, of user: AppUser) {
        guard bytes > 0 else { return }
        work.stage { $0.usage[user, default: UsageAmounts()] += UsageAmounts(bytes: Double(bytes)) }
    }

    /// Takes back what a message was to add and does not add now.
    func giveBack(bytes: Int, of user: AppUser) {
        work.stage {
            $0.usage[user, default: UsageAmounts()] += UsageAmounts(bytes: -Double(bytes))
        }
    }

    private func refusal(_ quota: Quota, _ limit: Int, of user: AppUser) -> Refusal {
        metrics.quotaMet(quota, app: user.app)
        activity.refusedByQuota(app: user.app)
        return .later(quota.refusal(limit: limit, app: user.app, user: user.user), seconds: 30, upTo: 600)
    }

    private func usage(ofApp app: String) async throws -> AppUsage {
        let uptime = clock.uptime()
        if let known = work.memory.usage.app(app, at: uptime) { return known }
        let read = try await store.usage(ofApp: app)
        work.memory.usage.read(read, ofApp: app, at: uptime)
        return read
    }

    /// What the user has added before, as it counts now.
    private func stored(of user: AppUser) async throws -> UsageAmounts? {
        let uptime = clock.uptime()
        if let known = work.memory.usage.user(user).stored, uptime < known.readAt &+ UsageLedger.userLifetime {
            return known.usage?.at(clock.now()).amounts
        }
        let read = try await store.usage(of: user)
        work.memory.usage.read(read, of: user, at: uptime)
        return read?.at(clock.now()).amounts
    }
}
