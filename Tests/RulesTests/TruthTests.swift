import Rules
import Testing

/// The laws of Kleene's three-valued logic.
@Suite struct TruthTests {
    private static let all = Truth.allCases

    @Test func negationTurnsOnlyWhatIsKnown() {
        #expect(!Truth.true == .false && !Truth.false == .true && !Truth.unknown == .unknown)
        for one in Self.all { #expect(!(!one) == one) }
    }

    @Test func conjunctionAndDisjunctionKeepTheirLaws() {
        for one in Self.all {
            #expect((one && .true) == one && (one && .false) == .false && (one && one) == one)
            #expect((one || .false) == one && (one || .true) == .true && (one || one) == one)
            for other in Self.all {
                #expect((one && other) == (other && one) && (one || other) == (other || one))
                #expect(!(one && other) == (!one || !other) && !(one || other) == (!one && !other))
                #expect((one && (one || other)) == one && (one || (one && other)) == one)
                for third in Self.all {
                    #expect(((one && other) && third) == (one && (other && third)))
                    #expect(((one || other) || third) == (one || (other || third)))
                    #expect((one && (other || third)) == ((one && other) || (one && third)))
                }
            }
        }
    }
}
