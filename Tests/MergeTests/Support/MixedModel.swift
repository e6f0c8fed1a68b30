import Changesets

/// A value that a mixed property can hold, to which instructions are applied as strictly as the format demands
/// (with one exception, said below).
indirect enum MixedModel: Equatable {
    case null
    case int(Int64)
    case list([MixedModel])
    case dictionary([InternedString: MixedModel])

    struct Invalid: Error {
        var instruction: Instruction
    }

    mutating func apply(_ instruction: Instruction) throws {
        guard let path = instruction.fieldPath?.path else { throw Invalid(instruction: instruction) }
        try apply(instruction, path[...])
    }

    private mutating func apply(_ instruction: Instruction, _ path: Slice<PathElements>) throws {
        func check(_ holds: Bool) throws { if !holds { throw Invalid(instruction: instruction) } }
        guard let step = path.first else { return try applyHere(instruction) }
        switch (self, step) {
        case (.list(var elements), .index(let index)):
            self = .null
            if path.count == 1, try Self.edit(&elements, at: Int(index), instruction) {
                self = .list(elements)
                return
            }
            try check(Int(index) < elements.count)
            try elements[Int(index)].apply(instruction, path.dropFirst())
            self = .list(elements)
        case (.dictionary(var entries), .key(let key)):
            self = .null
            if path.count == 1, case .update(let update) = instruction {
                entries[key] = update.value == .erased ? nil : Self.assigned(update.value, over: entries[key])
            } else if path.count == 1, case .clear = instruction {
                // A newer Clear wins over an older erasure of the entry (9.2), and so has to bring it back.
                entries[key] = .null
                try entries[key]?.apply(instruction, path.dropFirst())
            } else {
                try check(entries[key] != nil)
                try entries[key]?.apply(instruction, path.dropFirst())
            }
            self = .dictionary(entries)
        default: throw Invalid(instruction: instruction)
        }
    }

    /// - Returns: whether the instruction was one for the list itself.
    private static func edit(_ elements: inout [MixedModel], at index: Int, _ instruction: Instruction) throws -> Bool {
        func check(_ priorSize: UInt32, _ holds: Bool) throws {
            if priorSize != UInt32(elements.count) || !holds { throw Invalid(instruction: instruction) }
        }
        switch instruction {
        case .arrayInsert(_, let value, let priorSize):
            try check(priorSize, index <= elements.count)
            elements.insert(assigned(value, over: nil), at: index)
        case .arrayErase(_, let priorSize):
            try check(priorSize, index < elements.count)
            elements.remove(at: index)
        case .arrayMove(_, let destination, let priorSize):
            try check(priorSize, index < elements.count && destination < priorSize && index != Int(destination))
            elements.insert(elements.remove(at: index), at: Int(destination))
        case .update(let update):
            try check(UInt32(elements.count), index < elements.count)
            elements[index] = assigned(update.value, over: elements[index])
        default: return false
        }
        return true
    }

    private mutating func applyHere(_ instruction: Instruction) throws {
        switch (instruction, self) {
        case (.update(let update), _): self = Self.assigned(update.value, over: self)
        case (.clear(_, let collection), _): self = collection == .list ? .list([]) : .dictionary([:])
        case (.addInteger(_, let delta), .int(let value)): self = .int(value &+ delta)
        case (.addInteger, .null): break
        default: throw Invalid(instruction: instruction)
        }
    }

    /// A collection keeps its contents when one of its kind is assigned.
    private static func assigned(_ payload: Payload, over old: MixedModel?) -> MixedModel {
        switch (payload, old) {
        case (.int(let value), _): .int(value)
        case (.list, .list(let elements)?): .list(elements)
        case (.list, _): .list([])
        case (.dictionary, .dictionary(let entries)?): .dictionary(entries)
        case (.dictionary, _): .dictionary([:])
        default: .null
        }
    }
}
