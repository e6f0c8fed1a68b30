package import SyncModel

/// Writes messages of both directions.
///
/// What a server sends is checked first: stock clients terminate or fall silent on several malformed messages, so
/// those are refused here and nothing leaves (`check`).
package struct MessageEncoder: Sendable {
    package let mode: SyncMode
    /// The receiver's build. Clients parse by their own build, not by what was negotiated: give a server's encoder the
    /// highest version that the client offered.
    package let version: ProtocolVersion
    package let limits: ProtocolLimits

    package init(mode: SyncMode, version: ProtocolVersion = .maximum, limits: ProtocolLimits = .standard) {
        self.mode = mode
        self.version = min(version, .maximum)
        self.limits = limits
    }
}
