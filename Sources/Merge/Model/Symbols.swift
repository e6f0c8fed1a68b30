import Changesets

/// A string of any changeset in one merge. Two are the same string exactly if their symbols are equal.
struct Symbol: Hashable {
    var number: UInt32
    init(_ number: UInt32) { self.number = number }
}

/// An object of any changeset in one merge: class and key. Number 0 stands for "no object".
struct ObjectNumber: Hashable {
    var number: UInt32
    init(_ number: UInt32) { self.number = number }
    static let none = ObjectNumber(0)
}

/// Gives every string and object that the changesets of one merge mention a number, once, so that the rules compare
/// numbers. Each changeset has its own numbering of strings, which says nothing beside another's.
struct SymbolTable {
    private(set) var strings: [ByteString] = []
    private var symbols: [ByteString: Symbol] = [:]
    private var objects: [ObjectIdentity: ObjectNumber] = [:]

    mutating func symbol(for string: ByteString) -> Symbol {
        if let symbol = symbols[string] { return symbol }
        let symbol = Symbol(UInt32(truncatingIfNeeded: strings.count))
        strings.append(string)
        symbols[string] = symbol
        return symbol
    }

    subscript(symbol: Symbol) -> ByteString { strings[Int(symbol.number)] }

    mutating func object(_ identity: ObjectIdentity) -> ObjectNumber {
        if let object = objects[identity] { return object }
        let object = ObjectNumber(UInt32(truncatingIfNeeded: objects.count + 1))
        objects[identity] = object
        return object
    }
}

/// A class and a key whose strings are symbols: kind and value must both agree.
struct ObjectIdentity: Hashable {
    private var table: Symbol
    private var kind: UInt8
    private var high: UInt64
    private var low: UInt64

    /// - Parameter stringKey: the symbol of a string key, 0 for any other.
    init(table: Symbol, key: PrimaryKey, stringKey: Symbol) {
        self.table = table
        (kind, high, low) =
            switch key {
            case .null: (0, 0, 0)
            case .int(let value): (1, 0, UInt64(bitPattern: value))
            case .string: (2, 0, UInt64(stringKey.number))
            case .globalKey(let high, let low): (3, high, low)
            case .objectID(let value): (4, value.high, UInt64(value.low))
            case .uuid(let value): (5, value.high, value.low)
            }
    }
}
