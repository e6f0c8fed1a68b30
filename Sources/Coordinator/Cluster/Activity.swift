/// Whether the broker has made this coordinator the active one.
///
/// AMQP does not tell a consumer so: only the active one is delivered anything. Every coordinator sends a tick through
/// the outcomes queue now and then; whoever it reaches is active, until its connection goes or deliveries stop.
struct Activity: Sendable, Equatable {
    private(set) var isActive = false
    private var lastDelivery: UInt64 = 0
    /// Milliseconds without any delivery after which it counts as standing by.
    let patience: UInt64

    init(patience: UInt64) { self.patience = patience }

    /// - Returns: whether it became active by this.
    mutating func delivered(at now: UInt64) -> Bool {
        lastDelivery = now
        defer { isActive = true }
        return !isActive
    }

    /// - Returns: whether it was active until now.
    mutating func lost() -> Bool {
        defer { isActive = false }
        return isActive
    }

    /// - Returns: whether it was active until now.
    mutating func passed(to now: UInt64) -> Bool {
        guard isActive, now > lastDelivery, now - lastDelivery > patience else { return false }
        return lost()
    }
}
