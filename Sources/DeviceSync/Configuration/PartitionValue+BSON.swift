internal import Foundation
import SyncModel
internal import SyncProtocol

extension PartitionValue {
    /// The partition that a BSON value names; nil for a type that cannot.
    init?(_ value: AnyBSON) {
        switch value {
        case .null: self = .null
        case .string(let text): self = .string(text)
        case .int32(let number): self = .int(Int64(number))
        case .int64(let number): self = .int(number)
        case .objectId(let id): self = .objectId(HexBytes(hex: id.stringValue)?.bytes ?? [])
        case .uuid(let uuid): self = .uuid(withUnsafeBytes(of: uuid.uuid) { Array($0) })
        default: return nil
        }
    }

    /// The name of the realm's file, without extension (docs/client.md, "Users").
    var fileName: String {
        switch self {
        case .null: "null"
        case .string(let text): "s_" + FileLayout.percentEncoded(text)
        case .int(let number): "i_\(number)"
        case .objectId(let bytes): "o_" + HexBytes(bytes).hex
        case .uuid(let bytes): "u_" + HexBytes(bytes).hex
        }
    }
}
