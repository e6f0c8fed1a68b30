import TestSupport
import Testing

@testable import Coordinator

@Suite struct EventPlacesTests {
    @Test func aPlaceIsFreeAgainWhenNobodyHasItsTokenAnyMore() {
        let places = EventPlaces(2)
        func take() -> EventPlaces.Token? { try? places.require() }
        var first = take()
        var body: (() -> Void)? = { [token = take()] in withExtendedLifetime(token) {} }
        expectTrue(first != nil && body != nil && take() == nil)
        // A response whose body is never written.
        body = nil
        let second = take()
        expectTrue(body == nil && second != nil && take() == nil)
        first = nil
        expectTrue(first == nil && take() != nil)
    }
}
