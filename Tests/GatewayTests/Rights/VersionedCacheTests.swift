import TestSupport
import Testing

@testable import Gateway

@Suite struct VersionedCacheTests {
    @Test func onlyTheVersionThatIsAskedForIsFound() {
        let cache = VersionedCache<String, Int>(maxCost: 100)
        cache.insert(1, for: "a", version: 5, cost: 10)
        expectEqual(cache.value("a", version: 5), 1)
        expectTrue(cache.value("a", version: 4) == nil && cache.value("a", version: 6) == nil)
        cache.insert(2, for: "a", version: 6, cost: 10)
        cache.insert(3, for: "a", version: 5, cost: 10)
        expectTrue(cache.value("a", version: 6) == 2 && cache.value("a", version: 5) == nil)
    }

    @Test func itHasABound() {
        let cache = VersionedCache<Int, Int>(maxCost: 100)
        for number in 0..<10 { cache.insert(number, for: number, version: 1, cost: 10) }
        expectEqual(cache.count, 10)
        // In the place of another one it costs what it has more.
        cache.insert(0, for: 0, version: 2, cost: 10)
        expectEqual(cache.count, 10)
        cache.insert(10, for: 10, version: 1, cost: 10)
        expectTrue(cache.count == 1 && cache.value(10, version: 1) == 10)
    }
}
