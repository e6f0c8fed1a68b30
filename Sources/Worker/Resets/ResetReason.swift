/// The reason for a reset that its client is told: the operator's words where there are any.
enum ResetReason {
    /// Bytes of UTF-8, as the admin API allows them; a message published from a shell may hold more.
    static let maxBytes = 1_000
    static let termination = "sync was terminated"
    static let reset = "this client realm must reset"
    static let restored = "the server was put back to an earlier state"
    static let erased = "the realm was erased on the server"
    static let unknown = "sync was terminated or this client realm must reset"

    /// The reason, cut between two characters to `maxBytes`; nil if it says nothing.
    static func bounded(_ reason: String?) -> String? {
        guard let reason, !reason.isEmpty else { return nil }
        guard reason.utf8.count > maxBytes else { return reason }
        var bytes = 0
        return String(
            reason.prefix { character in
                bytes += character.utf8.count
                return bytes <= maxBytes
            })
    }
}
