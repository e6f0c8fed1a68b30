/// The elements of a path below its field, the outermost first.
///
/// Up to two are kept in place. Nearly all paths are as short as that, and a history has millions of them.
package struct PathElements: Hashable, Sendable {
    /// How many there are, and of which kinds.
    private enum Shape: UInt8 {
        case none, index, key, indexIndex, indexKey, keyIndex, keyKey

        var count: Int {
            switch self {
            case .none: 0
            case .index, .key: 1
            case .indexIndex, .indexKey, .keyIndex, .keyKey: 2
            }
        }

        var firstIsIndex: Bool { self == .index || self == .indexIndex || self == .indexKey }
        var secondIsIndex: Bool { self == .indexIndex || self == .keyIndex }
    }

    private struct Few: Hashable {
        var first: UInt32 = 0
        var second: UInt32 = 0
        var shape = Shape.none

        subscript(position: Int) -> PathElement {
            position == 0
                ? PathElement(first, isIndex: shape.firstIsIndex) : PathElement(second, isIndex: shape.secondIsIndex)
        }
    }

    /// `many` has more than fit in place: equal paths have equal storage.
    private enum Storage: Hashable {
        case few(Few)
        case many([PathElement])
    }

    private var storage = Storage.few(Few())

    package init() {}

    package init(_ element: PathElement) {
        storage = .few(Few(first: element.number, shape: element.isIndex ? .index : .key))
    }

    package init(_ first: PathElement, _ second: PathElement) {
        let shape: Shape =
            switch (first.isIndex, second.isIndex) {
            case (true, true): .indexIndex
            case (true, false): .indexKey
            case (false, true): .keyIndex
            case (false, false): .keyKey
            }
        storage = .few(Few(first: first.number, second: second.number, shape: shape))
    }

    package init(_ elements: some Sequence<PathElement>) {
        let elements = Array(elements)
        switch elements.count {
        case 0: self.init()
        case 1: self.init(elements[0])
        case 2: self.init(elements[0], elements[1])
        default:
            self.init()
            storage = .many(elements)
        }
    }
}

extension PathElements: RandomAccessCollection, MutableCollection, ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: PathElement...) { self.init(elements) }

    package var startIndex: Int { 0 }

    package var endIndex: Int {
        switch storage {
        case .few(let few): few.shape.count
        case .many(let elements): elements.count
        }
    }

    package subscript(position: Int) -> PathElement {
        get {
            switch storage {
            case .few(let few):
                precondition(position >= 0 && position < few.shape.count, "position out of bounds")
                return few[position]
            case .many(let elements): return elements[position]
            }
        }
        set {
            switch storage {
            case .few(let few):
                precondition(position >= 0 && position < few.shape.count, "position out of bounds")
                if few.shape.count == 1 {
                    self = PathElements(newValue)
                } else {
                    self = position == 0 ? PathElements(newValue, few[1]) : PathElements(few[0], newValue)
                }
            case .many(var elements):
                storage = .few(Few())
                elements[position] = newValue
                storage = .many(elements)
            }
        }
    }

    package mutating func append(_ element: PathElement) {
        switch storage {
        case .few(let few):
            switch few.shape.count {
            case 0: self = PathElements(element)
            case 1: self = PathElements(few[0], element)
            default: storage = .many([few[0], few[1], element])
            }
        case .many(var elements):
            storage = .few(Few())
            elements.append(element)
            storage = .many(elements)
        }
    }
}

extension PathElement {
    fileprivate init(_ number: UInt32, isIndex: Bool) { self = isIndex ? .index(number) : .key(InternedString(number)) }

    fileprivate var isIndex: Bool { if case .index = self { true } else { false } }

    fileprivate var number: UInt32 {
        switch self {
        case .index(let index): index
        case .key(let key): key.index
        }
    }
}
