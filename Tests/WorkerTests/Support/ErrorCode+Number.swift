import SyncModel

// Tests pin the protocol's numbers and words, not our names for them.
extension ErrorCode: ExpressibleByIntegerLiteral {
    /// A code by its number.
    public init(integerLiteral value: Int) { self.init(value) }
}

extension ErrorAction: ExpressibleByStringLiteral {
    /// An action by its word on the wire.
    public init(stringLiteral name: String) { self.init(wireName: name) }
}
