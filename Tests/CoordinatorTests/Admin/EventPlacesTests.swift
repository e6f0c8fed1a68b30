import Testing

@testable import Coordinator

@Suite struct EventPlacesTests {
    @Test func aPlaceIsFreeAgainWhenNobodyHasItsTokenAnyMore() {
        let places = EventPlaces(2)
        var first = places.take()
        var body: (() -> Void)? = { [token = places.take()] in withExtendedLifetime(token) {} }
        #expect(first != nil && places.count == 2)
        #expect(places.take() == nil)
        // A response whose body is never written.
        body = nil
        #expect(body == nil && places.count == 1)
        let second = places.take()
        #expect(second != nil && places.take() == nil)
        first = nil
        #expect(first == nil && places.count == 1)
    }
}
