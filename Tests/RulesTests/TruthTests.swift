import Rules
import TestSupport
import Testing

/// The laws of Kleene's three-valued logic.
@Suite struct TruthTests {
    private static let all = Truth.allCases

    @Test func negationTurnsOnlyWhatIsKnown() {
        expectTrue(!Truth.true == .false && !Truth.false == .true && !Truth.unknown == .unknown)
        for one in Self.all { expectEqual(!(!one), one) }
    }

    @Test func conjunctionAndDisjunctionKeepTheirLaws() {
        for one in Self.all {
            expectTrue((one && .true) == one && (one && .false) == .false && (one && one) == one)
            expectTrue((one || .false) == one && (one || .true) == .true && (one || one) == one)
            for other in Self.all {
                expectTrue((one && other) == (other && one) && (one || other) == (other || one))
                expectTrue(!(one && other) == (!one || !other) && !(one || other) == (!one && !other))
                expectTrue((one && (one || other)) == one && (one || (one && other)) == one)
                for third in Self.all {
                    expectEqual(((one && other) && third), (one && (other && third)))
                    expectEqual(((one || other) || third), (one || (other || third)))
                    expectEqual((one && (other || third)), ((one && other) || (one && third)))
                }
            }
        }
    }
}
