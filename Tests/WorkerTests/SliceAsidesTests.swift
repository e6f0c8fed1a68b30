import Changesets
import Query
import RealmState
import SyncModel
import TestSupport
import Testing
import Views

@testable import Worker

/// What a slice remembers of messages that wait for looks beside it.
@Suite struct SliceAsidesTests {
    private func realm(_ app: String) -> RealmName { RealmName(flexible: app) }

    private func trial(_ number: Int64, bytes: Int) -> LongTrial {
        LongTrial(
            LongTrial.Subject(
                className: "Item", query: "a", roles: "", version: nil, schema: 1, viewHash: 1, key: .int(number),
                object: StoredObject()),
            bytes: bytes, { _ in true }, explain: { _ in "" })
    }

    private func answers(bytes: Int) -> TrialAnswers {
        let trial = trial(1, bytes: bytes)
        var answers = TrialAnswers()
        answers.add(trial.made(perObject: 100), of: trial)
        return answers
    }

    /// What the messages of all realms have remembered for them is bounded together.
    @Test func realmsShareTheRoomOfTheirSlice() {
        var asides = SliceAsides(merges: AsidePool(limit: 1), looks: AsidePool(limit: 1))
        let bytes = TrialAnswers.maxBytes / 2
        asides.pause(realm("a"), messages: 1, for: LookPause(look: nil, answers: answers(bytes: bytes)))
        expectEqual(asides.findings(of: realm("a")).answers.room, TrialAnswers.maxBytes)
        expectTrue(asides.findings(of: realm("b")).answers.room < TrialAnswers.maxBytes - bytes)
        asides.pause(realm("b"), messages: 1, for: LookPause(look: nil, answers: answers(bytes: bytes)))
        expectEqual(asides.findings(of: realm("c")).answers.room, 0)
        asides.forget(realm("a"))
        expectTrue(asides.findings(of: realm("c")).answers.room > 0)
        // A realm that nothing waits for any more keeps nothing.
        asides.beginBatch(waiting: [realm("a")])
        expectEqual(asides.findings(of: realm("c")).answers.room, TrialAnswers.maxBytes)
    }

    /// A realm whose message was through after all holds up nobody by its place in the line.
    @Test func aRealmWhoseMessageIsThroughLeavesTheLine() {
        let pool = AsidePool(limit: 1)
        var asides = SliceAsides(merges: AsidePool(limit: 1), looks: pool)
        let place = pool.place()
        let look = AsideLook.trial(trial(1, bytes: 1), perObject: 100)
        for app in ["a", "b"] {
            asides.pause(realm(app), messages: 1, for: LookPause(look: look, answers: TrialAnswers()))
        }
        expectTrue(asides.isBusy(realm("a")) && asides.isBusy(realm("b")))
        asides.forget(realm("a"))
        expectTrue(!asides.isBusy(realm("a")) && asides.isBusy(realm("b")))
        withExtendedLifetime(place) {}
    }

    /// Whatever keeps a message waiting, it is not begun anew for ever.
    @Test func aMessageIsBegunAnewSoOftenAndNoMore() {
        var findings = LookFindings()
        var beginnings = 0
        while findings.mayWait, beginnings < 10_000 {
            findings.begin(with: TrialAnswers())
            beginnings += 1
        }
        expectEqual(beginnings, 2_000)
    }
}
