package import AMQP
import Foundation
import Messages
import SyncModel

/// A message's body as text, for operators who ask for it: it contains users' data. Secrets are removed all the same.
package enum MessageBody {
    /// Values under these keys are never shown: a salt binds a client file ident to one file.
    static let secrets: Set<String> = [
        "salt", "token", "accesstoken", "refreshtoken", "access_token", "refresh_token", "password", "authorization",
    ]

    /// The body as JSON or other text, else in hexadecimal digits, cut after `maxCharacters`.
    package static func text(of message: AMQPMessage, maxCharacters: Int = 16_384) -> String {
        let whole: String
        if let json = json(of: message),
            let value = try? JSONSerialization.jsonObject(with: json, options: [.fragmentsAllowed]),
            let data = try? JSONSerialization.data(
                withJSONObject: redacted(value), options: [.sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed])
        {
            whole = String(decoding: data, as: UTF8.self)
        } else {
            whole = String(validating: message.body, as: UTF8.self) ?? HexBytes(message.body).hex
        }
        guard whole.count > maxCharacters else { return whole }
        return String(whole.prefix(maxCharacters)) + " ... (\(whole.count) characters)"
    }

    private static func json(of message: AMQPMessage) -> Data? {
        guard message.properties.contentType == ContentType.binary else { return Data(message.body) }
        func encoded<M: Message>(_ type: M.Type) -> Data? {
            (try? message.decode(M.self)).flatMap { try? Data($0.jsonBody()) }
        }
        return switch message.properties.type {
        case ChangesetMessage.type: encoded(ChangesetMessage.self)
        case PageAnswer.type: encoded(PageAnswer.self)
        case IntegratedNotice.type: encoded(IntegratedNotice.self)
        default: nil
        }
    }

    private static func redacted(_ value: Any) -> Any {
        switch value {
        case let object as [String: Any]:
            var result: [String: Any] = [:]
            for (key, member) in object {
                result[key] = secrets.contains(key.lowercased()) ? "<redacted>" : redacted(member)
            }
            return result
        case let array as [Any]: return array.map(redacted)
        default: return value
        }
    }
}
