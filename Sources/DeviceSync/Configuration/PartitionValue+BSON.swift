internal import Changesets
internal import Foundation
internal import SyncProtocol

extension PartitionValue {
    /// The partition that a BSON value names; nil for a type that cannot.
    init?(_ value: AnyBSON) {
        switch value {
        case .null: self = .null
        case .string(let text): self = .string(text)
        case .int32(let number): self = .int(Int64(number))
        case .int64(let number): self = .int(number)
        case .objectId(let id):
            var bytes: [UInt8] = []
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: id.value.high >> UInt64(shift)))
            }
            for shift in stride(from: 24, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: id.value.low >> UInt32(shift)))
            }
            self = .objectId(bytes)
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
        case .objectId(let bytes): "o_" + bytes.map { hexadecimal(UInt64($0), digits: 2) }.joined()
        case .uuid(let bytes): "u_" + bytes.map { hexadecimal(UInt64($0), digits: 2) }.joined()
        }
    }
}
