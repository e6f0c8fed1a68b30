import Storage

/// What a client is told of why it must reset: the operator's words where there are any.
enum ResetReason {
    /// Bytes of UTF-8, as the admin API allows them; a message published from a shell may hold more.
    static let maxBytes = 1_000
    static let termination = "sync was terminated"
    static let reset = "this client realm must reset"
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

extension SliceOwner {
    /// Keeps a campaign's reason with the next commit, for the clients that come later.
    func keep(reason: String?, of campaign: String) {
        guard let text = ResetReason.bounded(reason) else { return }
        pending.reasons[campaign] = pending.reasons[campaign] ?? text
    }

    /// What the client of a client file that must reset is told.
    func reason(for file: ClientFileRecord) async throws -> String {
        guard file.state == .resetRequired, let campaign = file.campaign else { return ResetReason.termination }
        return try await store.reason(campaign: campaign) ?? ResetReason.unknown
    }
}
