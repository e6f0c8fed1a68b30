import SyncModel
import TestSupport
import Testing

@testable import Gateway

@Suite struct PendingMarksTests {
    @Test func aMarkIsAnsweredWithWhatTheRealmHadWhenTheOwnerWasAsked() {
        var marks = PendingMarks()
        expectTrue(!marks.isOwed && !marks.needsOwner && marks.take(1))
        expectTrue(marks.isOwed && marks.needsOwner && marks.answer(at: 100) == nil)
        marks.ask()
        // What came to pass before the owner has answered says nothing.
        expectTrue(marks.needsOwner && marks.answer(at: 100) == nil)
        marks.hear(latest: 9, isComplete: false)
        expectTrue(!marks.needsOwner && marks.answer(at: 8) == nil)
        // The realm goes on.
        marks.hear(latest: 20, isComplete: false)
        expectEqual(marks.answer(at: 9), 1)
        expectTrue(!marks.isOwed && marks.answer(at: 20) == nil)
        // The owner hears of it in the end.
        expectTrue(marks.tellsOwner)
        marks.hear(latest: 20, isComplete: true)
        expectTrue(!marks.tellsOwner)
    }

    @Test func aMarkThatComesAgainIsAnsweredOnce() {
        var marks = PendingMarks()
        expectTrue(marks.take(3) && !marks.take(3) && !marks.take(2))
        marks.ask()
        marks.hear(latest: 0, isComplete: true)
        expectTrue(marks.answer(at: 0) == 3 && !marks.take(3) && !marks.isOwed)
    }

    @Test func aNewerMarkStandsForOneThatNoOwnerHasAnswered() {
        var marks = PendingMarks()
        expectTrue(marks.take(1))
        marks.ask()
        expectTrue(marks.take(2))
        // The request was lost.
        marks.ask()
        marks.hear(latest: 5, isComplete: false)
        expectEqual(marks.answer(at: 5), 2)
    }

    /// A client that asks again and again would never hear of an end.
    @Test func aNewerMarkDoesNotHoldUpOneWhoseVersionIsKnown() {
        var marks = PendingMarks()
        expectTrue(marks.take(1))
        marks.ask()
        marks.hear(latest: 5, isComplete: false)
        expectTrue(marks.take(2))
        marks.ask()
        marks.hear(latest: 8, isComplete: false)
        expectEqual(marks.answer(at: 5), 1)
        expectTrue(marks.needsOwner)
        marks.ask()
        marks.hear(latest: 9, isComplete: false)
        expectTrue(marks.answer(at: 8) == nil && marks.answer(at: 9) == 2)
    }
}
