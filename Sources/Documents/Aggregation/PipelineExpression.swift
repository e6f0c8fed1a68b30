import Changesets
import ExtendedJSON

/// A value that a stage makes of a document: `"$address.city"`, `"$$ROOT"`, a constant, `{"$literal": ...}`, or an object of these.
indirect enum PipelineExpression: Hashable, Sendable {
    case constant(BSONValue)
    case path(PipelinePath)
    /// The document as a whole.
    case root
    case object([Member])

    struct Member: Hashable, Sendable {
        var name: ByteString
        var expression: PipelineExpression
    }

    /// - Throws: `unsupportedOperator`, `invalidWrite` or `limit`.
    init(_ value: BSONValue, _ limits: PipelineLimits, depth: Int = 0) throws(DocumentError) {
        guard depth <= limits.conditionDepth else {
            throw DocumentError(.limit, "expected values nested at most \(limits.conditionDepth) deep")
        }
        switch value {
        case .string(let text) where text.first == UInt8(ascii: "$"):
            if text == "$$ROOT" {
                self = .root
                return
            }
            let name = ByteString(Array(text.bytes.dropFirst()))
            guard name.first != UInt8(ascii: "$") else {
                throw DocumentError(
                    .unsupportedOperator,
                    "\(text.string.shortened) is not supported here, expected $ and a field, or $$ROOT")
            }
            self = .path(try PipelinePath(name, limits))
        case .document(let document):
            if let first = document.members.first, first.key.first == UInt8(ascii: "$"), first.key != "$ref" {
                guard first.key == "$literal", document.count == 1 else {
                    throw DocumentError(
                        .unsupportedOperator,
                        "\(first.key.string.shortened) is not supported here, expected a field, a constant, or $literal"
                    )
                }
                self = .constant(first.value)
                return
            }
            var members: [Member] = []
            for member in document {
                do throws(DocumentError) {
                    members.append(
                        Member(
                            name: member.key,
                            expression: try PipelineExpression(member.value, limits, depth: depth + 1)))
                } catch {
                    throw error.within(.key(member.key))
                }
            }
            self = .object(members)
        default: self = .constant(value)
        }
    }

    /// - Returns: nil: there is nothing.
    func value(of document: BSONDocument) -> BSONValue? {
        switch self {
        case .constant(let value): return value
        case .path(let path): return path.value(in: document)
        case .root: return .document(document)
        case .object(let members):
            var result = BSONDocument()
            for member in members { result[member.name] = member.expression.value(of: document) }
            return .document(result)
        }
    }

    /// The fields of a document that the expression looks at; nil: all.
    var fields: Set<ByteString>? {
        switch self {
        case .constant: return []
        case .path(let path): return [path.field]
        case .root: return nil
        case .object(let members):
            var all: Set<ByteString> = []
            for member in members {
                guard let fields = member.expression.fields else { return nil }
                all.formUnion(fields)
            }
            return all
        }
    }
}
