import TestSupport
import Testing

@testable import Gateway

/// The sessions that are judged again when something changes.
@Suite struct JudgedSessionsTests {
    private static func judged(_ rules: UInt64, _ users: UInt64) -> JudgedBy { JudgedBy(rules: rules, users: users) }

    /// Three sessions of two users.
    private static var three: JudgedSessions {
        var sessions = JudgedSessions(coveredBy: judged(1, 10))
        for (number, user) in [(1, "a"), (2, "a"), (3, "b")] as [(UInt64, String)] {
            sessions.add(number, user: user, judged: judged(1, 10))
        }
        return sessions
    }

    private func due(_ sessions: inout JudgedSessions) -> [UInt64: Bool] {
        Dictionary(uniqueKeysWithValues: sessions.takeDue(atMost: .max).map { ($0.number, $0.isUser) })
    }

    @Test func aUsersChangeConcernsThatUsersSessions() {
        var sessions = Self.three
        expectTrue(!sessions.hasDue)
        sessions.cover(Self.judged(1, 11), changed: ["a", "somebody else"])
        expectEqual(due(&sessions), [1: true, 2: true])
        for number in 1...2 as ClosedRange<UInt64> { sessions.judged(number, by: Self.judged(1, 11)) }
        expectTrue(!sessions.hasDue)
        // The other one still holds by what it was judged by.
        sessions.cover(Self.judged(1, 12), changed: [])
        expectTrue(!sessions.hasDue)
    }

    @Test func rulesConcernAll() {
        var sessions = Self.three
        sessions.cover(Self.judged(2, 10), changed: [])
        expectEqual(due(&sessions), [1: false, 2: false, 3: false])
        sessions.judged(1, by: Self.judged(2, 10))
        sessions.cover(Self.judged(3, 11), changed: ["b"])
        expectEqual(due(&sessions), [1: false, 2: false, 3: true])
    }

    @Test func changesThatNobodyRemembersConcernAll() {
        var sessions = Self.three
        sessions.cover(Self.judged(1, 2_000), changed: nil)
        expectEqual(due(&sessions), [1: true, 2: true, 3: true])
    }

    @Test func aSessionThatBeganWhileSomethingChangedIsDueAtOnce() {
        var sessions = Self.three
        sessions.cover(Self.judged(2, 11), changed: [])
        _ = due(&sessions)
        sessions.add(4, user: "c", judged: Self.judged(1, 10))
        sessions.add(5, user: "c", judged: Self.judged(1, 11))
        sessions.add(6, user: "c", judged: Self.judged(2, 11))
        sessions.add(7, user: "c", judged: Self.judged(3, 12))
        expectEqual(due(&sessions), [4: true, 5: false])
        // Judged by something that was old by then.
        sessions.judged(4, by: Self.judged(1, 11))
        expectEqual(due(&sessions), [4: false])
        sessions.cover(Self.judged(3, 12), changed: [])
        expectEqual(due(&sessions).keys.sorted(), [1, 2, 3, 4, 5, 6])
    }

    @Test func sessionsPutBackAreDueAgainUnlessTheyLeft() {
        var sessions = Self.three
        sessions.cover(Self.judged(2, 11), changed: ["a"])
        var taken = sessions.takeDue(atMost: 2)
        expectTrue(taken.count == 2 && sessions.hasDue)
        taken += sessions.takeDue(atMost: 2)
        sessions.remove(1)
        sessions.putBack(taken)
        expectEqual(due(&sessions), [2: true, 3: false])
        sessions.remove(2)
        sessions.remove(3)
        sessions.remove(3)
        expectTrue(sessions.isEmpty && !sessions.hasDue)
    }
}
