import RealmState
import SeededRandom
import SyncModel
import TestSupport
import Testing

@testable import Views

/// Tests of whom commits concern, in random histories of a gateway's sessions and of a realm.
@Suite struct RandomFanTests {
    @Test(arguments: 1...30) func fanTellsTheSameAsEverySessionsOwnView(_ seed: UInt64) throws {
        var history = FanHistory(seed: seed, roles: try PoolRole.all())
        for step in 0..<60 {
            if let difference = try history.step() {
                Issue.record("seed \(seed), step \(step): \(difference)")
                return
            }
        }
        for number in history.naive.sessions.keys.shuffled(using: &history.random) { history.fan.leave(number) }
        expectTrue(history.fan.isEmpty && history.fan.isForgotten, "seed \(seed)")
    }
}

/// A random history, which a fan and a naive one follow.
private struct FanHistory {
    var random: SeededGenerator
    var fan = ViewFan()
    var naive = NaiveFan()
    private let roles: [PoolRole]
    private var objects: [PoolSlot: PoolObject] = [:]
    private var latest: UInt64 = 5
    /// The realm's schema: a place in `PoolClass.schemas`, and its number.
    private var schema: Int
    private var stamp: UInt64 = 7
    /// The last commit, which may come once more.
    private var last: PoolCommit?

    init(seed: UInt64, roles: [PoolRole]) {
        random = SeededGenerator(seed: seed)
        self.roles = roles
        schema = random.below(2)
        // Some gateways do not know the schema at first.
        if random.below(3) > 0 { learn() }
    }

    /// Lets something happen; what the fan and the naive one say otherwise, if anything.
    mutating func step() throws -> String? {
        switch random.below(20) {
        case 0..<6: return follow()
        case 6:
            guard let number = naive.sessions.keys.sorted().randomElement(using: &random) else { return nil }
            fan.leave(number)
            naive.sessions[number] = nil
            return nil
        case 7:
            learn()
            return nil
        case 8:
            let files = Set((0..<random.below(3)).map { _ in file() })
            latest += UInt64(random.below(2))
            let lost = fan.pass(to: ServerVersion(latest), answering: Array(files)).lost
            return difference("pass to \(latest)", lost, naive.pass(to: latest, answering: files))
        case 9:
            guard let last else { return nil }
            return try take(last)
        default:
            // Some notices never come.
            if random.below(10) == 0 { _ = commit() }
            return try take(commit())
        }
    }

    private mutating func follow() -> String? {
        let number = UInt64(1 + random.below(12))
        let isSame = random.below(5) == 0
        var wanted = PoolDefinition(queries: [:], role: roles[random.below(roles.count)], version: random.next() % 9)
        for pool in PoolClass.allCases where random.below(5) > 0 {
            wanted.queries[pool] = PoolQuery.all[random.below(PoolQuery.all.count)]
        }
        if isSame, let known = naive.sessions[number] { wanted = known.wanted }
        let file = isSame ? naive.sessions[number]?.file ?? file() : file()
        let version = latest + UInt64(random.below(3)) - UInt64(random.below(3))
        naive.follow(number, file, wanted, at: version)
        let position = fan.follow(number, file: file, wanted.definition, at: ServerVersion(version))
        return position.rawValue == naive.position ?? 0 ? nil : "follows from \(position)"
    }

    private mutating func file() -> FileIdent { FileIdent(UInt64(10 + random.below(8))) }

    private mutating func learn() {
        fan.learn(PoolClass.schemas[schema], stamp: stamp)
        (naive.stamp, naive.schema) = (stamp, schema)
    }

    private mutating func object(of pool: PoolClass) -> PoolObject {
        func one<T>(_ values: [T], or null: T?, _ random: inout SeededGenerator) -> T? {
            random.below(4) == 0 ? null : values[random.below(values.count)]
        }
        return PoolObject(
            owner: one(["a1", "A1", "b2", "c"], or: pool.isNullable ? nil : "", &random),
            done: one([true, false], or: pool.isNullable ? nil : false, &random),
            team: schema == 0 ? nil : one(["red", "blue"], or: nil, &random), isTerse: random.below(2) == 0)
    }

    private mutating func commit() -> PoolCommit {
        var commit = PoolCommit(
            follows: latest, versions: [], now: [:], hasEntries: random.below(8) > 0,
            addressed: Set((0..<random.below(2)).map { _ in file() }), stamp: stamp, changed: nil)
        if random.below(25) == 0 {
            (schema, stamp) = (1, stamp + 1)
            (commit.stamp, commit.changed) = (stamp, random.below(3) > 0 ? schema : nil)
        }
        for _ in 0...random.below(3) {
            var version = PoolCommit.Version(author: random.below(3) == 0 ? file() : .server, before: [:])
            for _ in 0..<random.below(4) {
                let slot = PoolSlot(pool: random.below(2) == 0 ? .item : .note, key: Int64(1 + random.below(4)))
                guard version.before[slot] == nil else { continue }
                version.before[slot] = .some(objects[slot])
                objects[slot] = random.below(4) == 0 ? nil : object(of: slot.pool)
            }
            commit.versions.append(version)
        }
        commit.now = objects.filter { commit.touched.contains($0.key) }
        latest = commit.latest
        last = commit
        return commit
    }

    private mutating func take(_ commit: PoolCommit) throws -> String? {
        let changed = commit.changed.map { PoolClass.schemas[$0] }
        let outcome = fan.take(try commit.stretch(), schema: (commit.stamp, changed))
        let expected = naive.take(commit)
        if let difference = difference("\(commit)", outcome.lost, expected.lost) { return difference }
        guard fan.position?.rawValue == naive.position, fan.stamp == naive.stamp else {
            return "\(commit): stands at \(String(describing: fan.position)) with schema \(fan.stamp)"
        }
        var told: [UInt64: Set<ObjectSlot>] = [:]
        for group in outcome.groups {
            for number in group.sessions {
                guard told.updateValue(Set(group.slots), forKey: number) == nil else {
                    return "\(commit): \(number) twice"
                }
                guard let wanted = naive.sessions[number]?.wanted.definition, group.view.definition.selectsLike(wanted)
                else { return "\(commit): \(number) is told by another's view" }
            }
        }
        for number in Set(told.keys).union(expected.told.keys) {
            let wanted = naive.sessions[number].map { "\(number) with \($0.wanted.definition)" } ?? "\(number)"
            guard let right = expected.told[number] else { return "\(commit): \(wanted) is told" }
            guard let found = told[number] else {
                if right.isOptional { continue }
                return "\(commit): \(wanted) is not told of \(right.least)"
            }
            guard found.isSuperset(of: right.least.map(\.slot)), found.isSubset(of: right.most.map(\.slot)) else {
                return "\(commit): \(wanted) is told of \(found), expected \(right.least) within \(right.most)"
            }
        }
        return nil
    }

    private func difference(_ what: String, _ found: [UInt64], _ expected: Set<UInt64>) -> String? {
        if found.count == expected.count, Set(found) == expected { return nil }
        return "\(what): has to ask \(found.sorted()), expected \(expected.sorted()) of \(naive.sessions)"
    }
}
