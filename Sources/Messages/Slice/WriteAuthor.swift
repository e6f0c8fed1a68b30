import Changesets
import ExtendedJSON
import SyncModel

/// The user for whom documents are written, with what the user may do.
///
/// Decided by whoever sends the message, as a gateway decides for a session's uploads: an owner knows no users, and sees by the versions whether what
/// was decided still holds.
package struct WriteAuthor: Sendable, Equatable {
    package var user: String
    package var rights: SessionRights
    /// The user's roles in an app in flexible mode, closed; nil of an app in partition mode.
    package var roles: String?

    package init(user: String, rights: SessionRights, roles: String? = nil) {
        self.user = user
        self.rights = rights
        self.roles = roles
    }
}

extension WriteAuthor {
    var document: BSONDocument {
        var decided: BSONDocument = [
            "rights": BSONValue(Int64(rights.rights.rawValue)),
            "rulesVersion": BSONValue(Int64(clamping: rights.rulesVersion)),
        ]
        decided["usersVersion"] = rights.usersVersion.map { BSONValue(Int64(clamping: $0)) }
        var document: BSONDocument = ["user": BSONValue(user), "rights": .document(decided)]
        document["roles"] = roles.map { BSONValue($0) }
        return document
    }

    init(_ value: BSONValue, of messageType: String) throws(MessageError) {
        func fail(_ reason: String) -> MessageError {
            MessageError(messageType: messageType, reason: "\"author\": \(reason)")
        }
        guard let document = value.document else { throw fail("expected an object, found \(value.typeName)") }
        try DocumentBody(document, of: messageType).requireKeys(among: ["user", "rights", "roles"])
        guard let user = document["user"]?.string?.string, !user.isEmpty else {
            throw fail("expected a user's id as a text")
        }
        guard let decided = document["rights"]?.document else {
            throw fail("expected the user's rights, too, which the coordinator knows: send the write there")
        }
        let body = DocumentBody(decided, of: messageType)
        guard let number = UInt8(exactly: try body.number("rights")), let rights = PartitionRights(rawValue: number)
        else { throw fail("expected rights of 0, 1 or 2") }
        self.init(
            user: user,
            rights: SessionRights(
                rights, rulesVersion: try body.number("rulesVersion"),
                usersVersion: decided["usersVersion"] == nil ? nil : try body.number("usersVersion")),
            roles: document["roles"]?.string?.string)
    }
}
