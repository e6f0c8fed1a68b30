import Changesets

extension ScriptedClient {
    private static let words = ["", "alpha", "beta", "gamma", "delta", "epsé", "zeta zeta", "eta", "theta", "€"]

    mutating func word() -> Payload { .string(ByteString(Self.words[below(Self.words.count)])) }

    /// One edit of the kind, of one or a few instructions.
    mutating func edit() {
        let small: (inout ScriptedClient) -> Payload = { .int(Int64($0.below(100))) }
        switch kind {
        case .disjoint:
            set(.item(2 * below(100) + Int(side)), "i", to: .int(Int64(below(1000))))
        case .fields:
            editField(of: .item(below(200)))
        case .lists:
            editList(
                .item(below(20)), "li", size: 10,
                ListWeights(insert: 49, assign: 21, erase: 19, move: 8, clear: 3), small)
        case .mixed:
            editMixed()
        case .hotList:
            editList(.item(0), "li", size: 200, ListWeights(insert: 40, assign: 20, erase: 40), small)
        case .hotListMoves:
            editList(.item(0), "li", size: 200, ListWeights(insert: 40, assign: 20, erase: 30, move: 10), small)
        case .append:
            let size = listSize(.item(0), "li", first: 0)
            insert(.item(0), "li", at: size, size: size, .int(Int64(below(100))))
        case .queue:
            let size = listSize(.item(0), "li", first: 100)
            if size == 0 || below(100) < 52 {
                insert(.item(0), "li", at: size, size: size, .int(Int64(below(100))))
            } else {
                erase(.item(0), "li", at: 0, size: size)
            }
        case .hotObject:
            editField(of: .item(0))
        case .hotSet:
            let value = Payload.int(Int64(below(500)))
            let path = path(.item(0), "si")
            record(below(3) == 0 ? .setErase(path, value: value) : .setInsert(path, value: value))
        case .hotDictionary:
            set(
                .item(0), "di", [.key("k\(below(500))")], to: below(5) == 0 ? .erased : .int(Int64(below(1000))))
        case .nested:
            editNested()
        case .createErase:
            let object = ScriptedObject.item(below(20))
            switch below(10) {
            case 0: erase(object)
            case 1, 2: create(object)
            default: editField(of: object)
            }
        }
    }

    private mutating func editField(of object: ScriptedObject) {
        switch below(4) {
        case 0: set(object, "i", to: .int(Int64(below(1000))))
        case 1: record(.addInteger(path(object, "i"), delta: Int64(below(21)) - 10))
        case 2: set(object, "s", to: word())
        default: set(object, "d", to: .double(bits: Double(below(1000)).bitPattern))
        }
    }

    private mutating func editNested() {
        let object = ScriptedObject.item(below(4))
        switch below(4) {
        case 0:
            // A list of embedded objects.
            editList(object, "parts", size: 20, ListWeights(insert: 40, assign: 0, erase: 40)) { _ in .objectValue }
        case 1:
            let size = listSize(object, "parts", first: 20)
            guard size > 0 else { return }
            set(object, "parts", [.index(UInt32(below(Int(size)))), .key("name")], to: word())
        case 2:
            editList(
                object, "any", [.key("list")], size: 20, ListWeights(insert: 40, assign: 20, erase: 40)
            ) { .int(Int64($0.below(100))) }
        default:
            set(object, "any", [.key("map"), .key("k\(below(20))")], to: .int(Int64(below(100))))
        }
    }
}
