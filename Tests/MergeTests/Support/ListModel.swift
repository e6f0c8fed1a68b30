import Changesets
import SeededRandom

/// A list of values, to which list instructions are applied as strictly as the format demands.
struct ListModel: Equatable {
    private(set) var elements: [Payload]

    struct Invalid: Error {
        var instruction: Instruction
    }

    init(size: UInt32) { elements = (0..<size).map { .int(Int64($0)) } }

    mutating func apply(_ instruction: Instruction) throws {
        let size = UInt32(elements.count)
        func index(_ path: FieldPath, below limit: UInt32) throws -> Int {
            guard case .index(let index)? = path.path.last, index < limit else {
                throw Invalid(instruction: instruction)
            }
            return Int(index)
        }
        func check(_ holds: Bool) throws { if !holds { throw Invalid(instruction: instruction) } }
        switch instruction {
        case .arrayInsert(let path, let value, let priorSize):
            try check(priorSize == size)
            elements.insert(value, at: try index(path, below: size + 1))
        case .arrayErase(let path, let priorSize):
            try check(priorSize == size)
            elements.remove(at: try index(path, below: size))
        case .arrayMove(let path, let destination, let priorSize):
            let from = try index(path, below: size)
            try check(priorSize == size && destination < size && Int(destination) != from)
            elements.insert(elements.remove(at: from), at: Int(destination))
        case .update(let update):
            try check(update.qualifier == .priorSize(size))
            elements[try index(update.target, below: size)] = update.value
        case .clear: elements = []
        default: throw Invalid(instruction: instruction)
        }
    }

    /// Every operation that is possible on a list of a size; the value marks who made it.
    static func operations(size: UInt32) -> (Payload) -> [Instruction] {
        { value in
            var operations: [Instruction] = [.clear(.at("l"), collection: .list)]
            operations += (0...size).map { .insert($0, value, of: size) }
            for index in 0..<size {
                operations += [.remove(index, of: size), .assign(index, value, of: size)]
                operations += (0..<size).filter { $0 != index }.map { .move(index, $0, of: size) }
            }
            return operations
        }
    }

    mutating func randomEdits(
        _ count: Int, marker: Int64, _ random: inout SeededGenerator
    ) throws -> [Instruction] {
        var edits: [Instruction] = []
        for number in 0..<count {
            let possible = Self.operations(size: UInt32(elements.count))(.int(marker + Int64(number)))
            guard let edit = possible.randomElement(using: &random) else { continue }
            try apply(edit)
            edits.append(edit)
        }
        return edits
    }
}
