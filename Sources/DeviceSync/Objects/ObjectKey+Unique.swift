internal import Changesets
internal import Foundation
internal import Synchronization

extension ObjectKey {
    /// A new key of an object of a class without a primary key, greater than all that the process has made before.
    ///
    /// Objects come by ascending key, so these come in the order in which they were made, on whichever device, as far as clocks agree. The
    /// random part keeps objects apart that two devices make at one moment.
    static func unique() -> ObjectKey {
        let moment = KeyMoments.next()
        let random = UInt64.random(in: 0..<1 << KeyMoments.randomBits)
        return .globalKey(
            high: moment >> KeyMoments.fractionBits,
            low: (moment & (1 << KeyMoments.fractionBits - 1)) << KeyMoments.randomBits | random)
    }
}

/// The moments at which keys were made, of which no two are alike.
private enum KeyMoments {
    /// What is left of a key's low half behind the part of a second.
    static let randomBits: UInt64 = 35
    /// A second has 2²⁹ moments, of less than two nanoseconds each.
    static let fractionBits: UInt64 = 29
    /// The beginning of 2020: the high half of a key has room for 34 years.
    private static let epoch = 1_577_836_800.0

    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 {
        let seconds = Date().timeIntervalSince1970 - epoch
        let range = 1...Double(ChangesetLimits.maxGlobalKeyFile)
        let now = UInt64(min(max(seconds, range.lowerBound), range.upperBound) * Double(1 << fractionBits))
        var known = last.load(ordering: .relaxed)
        while true {
            // A clock that stands still or goes back must not put an object before earlier ones.
            let next = max(now, known + 1)
            let exchange = last.compareExchange(expected: known, desired: next, ordering: .relaxed)
            if exchange.exchanged { return next }
            known = exchange.original
        }
    }
}
