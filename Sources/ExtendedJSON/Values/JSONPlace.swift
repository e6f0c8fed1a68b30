package import Changesets

/// A place in a JSON document, for people: `writes[3].document.address.city`.
package struct JSONPlace: Hashable, Sendable, CustomStringConvertible {
    package enum Step: Hashable, Sendable {
        case key(ByteString)
        case index(Int)
    }

    /// The steps from the document inwards.
    package var steps: [Step]

    package init(_ steps: [Step] = []) { self.steps = steps }

    package static let root = JSONPlace()

    package func key(_ key: ByteString) -> JSONPlace { JSONPlace(steps + [.key(key)]) }
    package func index(_ index: Int) -> JSONPlace { JSONPlace(steps + [.index(index)]) }

    /// The same place, of a document that stands at a step of another one.
    package func within(_ step: Step) -> JSONPlace { JSONPlace([step] + steps) }
    package func within(_ place: JSONPlace) -> JSONPlace { JSONPlace(place.steps + steps) }

    /// Empty for the whole document. Keys that are no names stand in brackets, long ones are cut.
    package var description: String {
        var text = ""
        for step in steps {
            switch step {
            case .index(let index): text += "[\(index)]"
            case .key(let key):
                let name = key.count > 100 ? ByteString(Array(key.bytes.prefix(100))).string + "..." : key.string
                text += key.isPlainName ? (text.isEmpty ? name : ".\(name)") : "[\(name.debugDescription)]"
            }
        }
        return text
    }
}

extension ByteString {
    fileprivate var isPlainName: Bool {
        !isEmpty && bytes.allSatisfy { $0 > 0x20 && $0 != 0x7F && !Array(".[]\"".utf8).contains($0) }
    }
}
