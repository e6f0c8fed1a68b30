import Changesets
import RealmState
import SeededRandom
import SyncModel
import TestSupport
import Testing

@testable import Views

/// An object's past, read once for all changesets of an upload and carried on by what they do.
@Suite struct ObjectPastTests {
    @Test func pastReadForManyBasesFollowsTheRuleForEach() {
        for seed in UInt64(30_001)...33_000 {
            var random = SeededGenerator(seed: seed)
            let test = WriteCase(random: &random)
            let bases = (test.base...test.latest).filter { _ in random.below(2) == 0 }
            guard let first = bases.first else { continue }
            let past = test.since(first).timeline.past(by: test.judge, bases: bases.map { ServerVersion($0) })
            for base in bases {
                let rule = NaiveWriteRule(test: test.since(base))
                let found = past.verdict(on: test.write, basedOn: ServerVersion(base))
                guard found == rule.verdict, past.ownSince(ServerVersion(base))?.rawValue == rule.ownSince else {
                    Issue.record("seed \(seed) base \(base): \(found), expected \(rule.verdict): \(test)")
                    return
                }
            }
        }
    }

    @Test func uploadsOwnChangesCarryThePastOn() {
        var appended = 0
        for seed in UInt64(40_001)...44_000 {
            var random = SeededGenerator(seed: seed)
            let test = WriteCase(random: &random)
            // No view begins in the middle of an upload.
            let start = max(test.base, test.segments.map(\.start.rawValue).max() ?? 0)
            guard start < test.latest else { continue }
            let read = UInt64(start) + UInt64(random.below(Int(test.latest - start)))
            var past = test.through(read).timeline.past(by: test.judge)
            for version in read + 1...test.latest {
                guard let isOwn = test.touches[version] else { continue }
                let (before, now) = (
                    WriteCase.object(test.owner(at: version - 1)), WriteCase.object(test.owner(at: version))
                )
                past.append(
                    ServerVersion(version), isOwn: isOwn, before: before, isThere: now != nil,
                    isInView: now.map { test.judge.isIn($0, test.segments[test.segments.count - 1].view) } ?? false)
                appended += 1
            }
            let rule = NaiveWriteRule(test: test)
            let base = ServerVersion(test.base)
            let found = past.verdict(on: test.write, basedOn: base)
            guard found == rule.verdict, past.ownSince(base)?.rawValue == rule.ownSince,
                past.last(after: base) == test.timeline.touches.last(where: { $0.before != nil })?.before
            else {
                Issue.record("seed \(seed) read to \(read): \(found), expected \(rule.verdict): \(test)")
                return
            }
        }
        expectTrue(appended > 1_000, "\(appended)")
    }

    /// A client that goes on with what it did before a reset asks for another set at once. Its fresh copy lacked the object; the set's data brought
    /// the object with a later time than the client's write has, which counts all the same: the client is sent what comes of both.
    @Test func whatMayBeRecoveredIsNoSignOfTheOlderView() {
        let object = StoredObject([ColumnID(rawValue: 0): .int(1)])
        let write = ObjectWrite(fields: ["a"])
        func verdict(having older: Bool, _ mayBeRecovered: Bool) -> WriteVerdict {
            let views = ViewHistory<Int>([.init(start: 2, view: 0), .init(start: 2, view: 1, since: 2)])
            let judge = WriteJudge(views: views, isIn: { _, view in view == 1 || older })
            var reader = judge.reader(bases: [2], latest: 2, now: object)
            return reader.finish().verdict(on: write, basedOn: 2, mayBeRecovered: mayBeRecovered)
        }
        expectEqual(verdict(having: false, true), .merge(resyncs: true))
        // A client changes what it has, and so has the newer view's data.
        expectEqual(verdict(having: false, false), .merge(resyncs: false))
        expectEqual(verdict(having: true, true), .merge(resyncs: false))
    }

    /// What costs is asking: each view about each state that it may have shown, and not again about what has not changed.
    @Test func aViewIsAskedOnlyWhatMatters() {
        func object(_ value: Int64) -> StoredObject { StoredObject([ColumnID(rawValue: 0): .int(value)]) }
        // One view at a time, for ten versions each.
        let views = ViewHistory(
            (0..<20).map { ViewHistory<Int>.Segment(start: ServerVersion(UInt64(10 * $0)), view: $0) })
        let judge = WriteJudge(views: views, isIn: { _, _ in true })
        var changing = judge.reader(bases: [0], latest: 200, now: object(0))
        var still = judge.reader(bases: [0], latest: 200, now: object(0))
        var late = judge.reader(bases: [195], latest: 200, now: object(0))
        for version in (1...200 as ClosedRange<UInt64>).reversed() {
            changing.add(ServerVersion(version), isOwn: false, before: object(Int64(version)))
            still.add(ServerVersion(version), isOwn: false, before: object(0))
            late.add(ServerVersion(version), isOwn: false, before: object(Int64(version)))
        }
        _ = (changing.finish(), still.finish(), late.finish())
        expectTrue(changing.asked <= 200 + 2 * 20, "\(changing.asked)")
        expectEqual(still.asked, 20)
        expectTrue(late.asked <= 7, "\(late.asked)")
    }
}
