package import Logging
package import SyncModel

extension Logger.Metadata {
    /// Makes the metadata of a line about a realm, or about what is named of it, with the keys that the lines of all roles use: so one search
    /// finds a session or a client realm in the logs of every process (docs/runbook.md, "Following one session").
    ///
    /// - Parameters:
    ///   - realm: `app`, and `realm`: the partition value, empty for the realm of an app in flexible mode.
    ///   - session: `session`: the session's gateway and its number there.
    ///   - clientFile: `client_file`, which with its realm names a client realm.
    ///   - campaign: `campaign`: the campaign or the account that a reset belongs to.
    ///   - details: what else the line says.
    package static func about(
        _ realm: RealmName, session: (any CustomStringConvertible)? = nil, clientFile: FileIdent? = nil,
        campaign: String? = nil, _ details: Logger.Metadata = [:]
    ) -> Logger.Metadata {
        var metadata = details
        metadata["app"] = "\(realm.app)"
        metadata["realm"] = "\(realm.partition)"
        if let session { metadata["session"] = "\(session)" }
        if let clientFile { metadata["client_file"] = "\(clientFile)" }
        if let campaign { metadata["campaign"] = "\(campaign)" }
        return metadata
    }
}
