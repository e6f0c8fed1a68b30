import RealmState
import SeededRandom
import SyncModel
import TestSupport
import Testing

@testable import Views

/// Tests of which writes count, in random histories of an object and of a client's views.
@Suite struct RandomWriteTests {
    @Test func theJudgeDecidesAsTheRuleSaysVersionByVersion() {
        var verdicts: [String: Int] = [:]
        for seed in UInt64(1)...8_000 {
            var random = SeededGenerator(seed: seed)
            let test = WriteCase(random: &random)
            let rule = NaiveWriteRule(test: test)
            let found = test.judge.verdict(on: test.timeline, test.write)
            verdicts["\(found)", default: 0] += 1
            guard found == rule.verdict,
                test.timeline.past(by: test.judge).ownSince(ServerVersion(test.base))?.rawValue == rule.ownSince
            else {
                Issue.record("seed \(seed): \(found), expected \(rule.verdict): \(test)")
                return
            }
        }
        // The histories lead to every verdict, many times.
        expectTrue(verdicts.count == 6 && verdicts.values.allSatisfy { $0 > 100 }, "\(verdicts)")
    }

    /// Some states do not tell whether a view had the object: nothing is refused that would have counted, and a client
    /// that may have been sent an erasure is sent the object anew.
    @Test func unclearStatesRefuseNoWriteThatWouldHaveCounted() {
        var lacking = 0
        for seed in UInt64(30_001)...38_000 {
            var random = SeededGenerator(seed: seed)
            let test = WriteCase(random: &random)
            let whole = test.judge.verdict(on: test.timeline, test.write)
            var timeline = test.timeline
            for index in timeline.touches.indices where random.below(2) == 0 && timeline.touches[index].before != nil {
                timeline.touches[index].before?.untold = [ColumnID(rawValue: 0)]
                lacking += 1
            }
            let poor = WriteJudge(
                views: test.judge.views,
                isIn: { [isIn = test.judge.isIn] object, view in object.untold.isEmpty && isIn(object, view) },
                isUnclear: { object, _ in !object.untold.isEmpty }, isShownAlike: test.judge.isShownAlike)
            let found = poor.verdict(on: timeline, test.write)
            let isSafe =
                switch (whole, found) {
                case (.merge(true), .merge(let resyncs)), (.insert(true), .insert(let resyncs)): resyncs
                case (.merge(false), .merge), (.insert(false), .insert), (.giveWay, .giveWay): true
                // The client may have had the object.
                case (.refuse, _), (.giveWay, .merge(true)): true
                // The client makes what it had all along, as far as can be told.
                case (.merge, .giveWay): test.write.creates && !test.write.beginsWithErasure
                case (.insert, .merge): true
                default: false
                }
            guard isSafe else {
                Issue.record("seed \(seed): \(found), not \(whole): \(test), lacking \(timeline.touches)")
                return
            }
        }
        expectTrue(lacking > 1_000)
    }

    @Test func viewsBeforeAWritesBaseDoNotMatter() {
        for seed in UInt64(10_001)...12_000 {
            var random = SeededGenerator(seed: seed)
            var test = WriteCase(random: &random)
            let whole = test.judge.verdict(on: test.timeline, test.write)
            var trimmed = ViewHistory(test.segments)
            trimmed.trim(before: ServerVersion(UInt64(random.below(Int(test.base + 1)))))
            test.segments = trimmed.segments
            let found = test.judge.verdict(on: test.timeline, test.write)
            guard found == whole else {
                Issue.record("seed \(seed): \(found), by all views \(whole): \(test)")
                return
            }
        }
    }

    @Test func viewsInForceAreThoseOfTheVersionsOneByOne() {
        for seed in UInt64(20_001)...22_000 {
            var random = SeededGenerator(seed: seed)
            var test = WriteCase(random: &random)
            // Views are told apart by their numbers.
            for index in test.segments.indices { test.segments[index].view.shown = index }
            let first = UInt64(random.below(Int(test.latest) + 2))
            let last = first + UInt64(random.below(4))
            let rule = NaiveWriteRule(test: test)
            let expected = Set((first...last).flatMap { rule.views(at: $0) }.map(\.shown)).sorted()
            let found = ViewHistory(test.segments).views(from: ServerVersion(first), through: ServerVersion(last))
            guard found.map(\.shown) == expected else {
                Issue.record("seed \(seed): \(found) from \(first) through \(last), expected \(expected): \(test)")
                return
            }
        }
    }
}
