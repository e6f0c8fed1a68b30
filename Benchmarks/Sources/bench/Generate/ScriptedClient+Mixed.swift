import Changesets

extension ScriptedClient {
    private static let textFields = ["s", "bin"]

    mutating func editMixed() {
        let item = ScriptedObject.item(below(8))
        switch below(100) {
        case 0..<5: recreate(item)
        case 5..<7:
            let node = node()
            below(4) == 0 ? erase(node) : create(node)
        case 7..<10: set(node(), "owner", to: word())
        case 10..<13: set(node(), "parent", to: below(4) == 0 ? .null : link(node()))
        case 13..<17: editDocument()
        case 17..<57: editScalar(of: item)
        case 57..<65: record(.addInteger(path(item, "i"), delta: Int64(below(21)) - 10))
        case 65..<73: set(item, "doc", to: below(6) == 0 ? .null : link(document()))
        case 73..<79: editSet(of: item)
        case 79..<84: set(item, "di", [.key("k\(below(4))")], to: below(12) == 0 ? .erased : .int(Int64(below(100))))
        default: editItemList(item)
        }
    }

    /// Erases an item and creates it again; its lists are empty afterwards.
    private mutating func recreate(_ item: ScriptedObject) {
        erase(item)
        create(item)
        for field in ["li", "ls", "ll"] { sizes["\(item.text) \(field) []"] = 0 }
    }

    private mutating func document() -> ScriptedObject { .init(table: "Doc", key: .string("doc\(below(5))")) }

    private mutating func node() -> ScriptedObject { .init(table: "Obj", key: .objectID(0x5F00 + UInt32(below(5)))) }

    private mutating func editDocument() {
        let document = document()
        switch below(4) {
        case 0: create(document)
        case 1: set(document, "title", to: word())
        case 2: record(.addInteger(path(document, "count"), delta: 1))
        default:
            editList(document, "items", size: 0, ListWeights()) { $0.link(.item($0.below(8))) }
        }
    }

    private mutating func editScalar(of item: ScriptedObject) {
        let bits = random.next()
        switch below(10) {
        case 0: set(item, "i", to: .int(Int64(below(1000))))
        case 1: set(item, "ni", to: below(3) == 0 ? .null : .int(Int64(bitPattern: bits)))
        case 2: set(item, "b", to: .bool(bits & 1 == 0))
        case 3: set(item, "d", to: .double(bits: Double(below(1000)).bitPattern))
        case 4: set(item, "f", to: .float(bits: Float(below(1000)).bitPattern))
        case 5: set(item, Self.textFields[below(2)], to: word())
        case 6:
            set(
                item, "ts",
                to: .timestamp(.init(seconds: Int64(below(1_000_000_000)), nanoseconds: Int32(below(999_999_999)))))
        case 7: set(item, "oid", to: .objectID(.init(high: 0, low: UInt32(truncatingIfNeeded: bits))))
        case 8: set(item, "uuid", to: .uuid(.init(high: bits, low: bits)))
        default: set(item, "link", to: below(3) == 0 ? .null : link(.item(below(8))))
        }
    }

    private mutating func editSet(of item: ScriptedObject) {
        let strings = below(2) == 0
        let path = path(item, strings ? "ss" : "si")
        let value = strings ? word() : .int(Int64(below(10)))
        switch below(30) {
        case 0: record(.setErase(path, value: value))
        case 1: record(.clear(path, collection: .set))
        default: record(.setInsert(path, value: value))
        }
    }

    private mutating func editItemList(_ item: ScriptedObject) {
        let weights = ListWeights(insert: 70, assign: 10, erase: 15, move: 2, clear: 2)
        switch below(3) {
        case 0: editList(item, "li", size: 10, weights) { .int(Int64($0.below(100))) }
        case 1: editList(item, "ls", size: 0, weights) { $0.word() }
        default:
            editList(item, "ll", size: 0, weights) { $0.link(.init(table: "Doc", key: .string("doc\($0.below(5))"))) }
        }
    }
}
