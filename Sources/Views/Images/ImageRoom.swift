import RealmState

/// The bounds of what is kept of objects as before images. Whatever a few bytes of an upload may touch, what is kept of it is bounded.
package struct ImageLimits: Sendable {
    /// The bytes up to which the part of an object that is looked at is kept whole.
    package var smallObject = 256
    /// The bytes up to which the part that roles look at is kept in each image, even if the version leaves it alone.
    package var smallRuled = 1 << 10
    /// Kept even without room.
    package var smallValue = 128
    /// A property that takes more is not kept.
    package var maxValue = 64 << 10
    /// The bytes of a realm's before images between two commits, beyond the texts that its changesets bring themselves.
    package var bytes = 8 << 20

    package init() {}
}

/// The bytes that before images may still take until the next commit. Beyond, what is not small is not kept: a few bytes of an upload can change a
/// property that has megabytes.
package struct ImageRoom: Sendable {
    let limits: ImageLimits
    private var left: Int

    package init(_ limits: ImageLimits = ImageLimits()) {
        self.limits = limits
        left = limits.bytes
    }

    mutating func grow(by bytes: Int) { left += bytes }

    /// Whether a value is kept; if so its room is taken.
    ///
    /// - Parameter isGone: the object is erased. What roles look at then only has to find room: it has to be brought again before it can go again.
    mutating func takes(_ value: Value, isRuled: Bool, isGone: Bool = false) -> Bool {
        let most = isRuled && isGone ? max(left, limits.maxValue) : limits.maxValue
        let weight = value.weight(upTo: most)
        if weight > (isRuled ? limits.smallRuled : limits.smallValue) {
            guard weight <= most, weight <= left else { return false }
        }
        left -= min(weight, left)
        return true
    }
}
