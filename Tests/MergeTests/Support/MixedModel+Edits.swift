import Changesets
import SeededRandom

extension MixedModel {
    /// A value inside, where it is, and how long the list is that holds it.
    private struct Slot {
        var path: PathElements
        var value: MixedModel
        var size: UInt32?
    }

    private func slots(_ path: PathElements = [], size: UInt32? = nil) -> [Slot] {
        let slot = Slot(path: path, value: self, size: size)
        guard path.count < 2 else { return [slot] }
        switch self {
        case .list(let elements):
            return [slot]
                + elements.enumerated().flatMap { index, element in
                    element.slots(PathElements(path + [.index(UInt32(index))]), size: UInt32(elements.count))
                }
        case .dictionary(let entries):
            return [slot]
                + entries.sorted { $0.key.index < $1.key.index }.flatMap {
                    $0.value.slots(PathElements(path + [.key($0.key)]))
                }
        default: return [slot]
        }
    }

    /// Makes random edits, as an honest client records them: who assigns a collection clears it too.
    mutating func randomEdits(
        _ count: Int, marker: Int64, _ random: inout SeededGenerator
    ) throws -> [Instruction] {
        var edits: [Instruction] = []
        for number in 0..<count {
            guard let slot = slots().randomElement(using: &random) else { continue }
            let edit = Self.edit(slot, marker + Int64(number), &random)
            for instruction in edit { try apply(instruction) }
            edits += edit
        }
        return edits
    }

    private static func edit(_ slot: Slot, _ value: Int64, _ random: inout SeededGenerator) -> [Instruction] {
        var path = FieldPath.at("any")
        path.path = slot.path
        func below(_ step: PathElement) -> FieldPath {
            var below = path
            below.path.append(step)
            return below
        }
        let payloads: [Payload] = [.int(value), .int(value), .null, .list, .dictionary]
        let payload = payloads.randomElement(using: &random) ?? .null
        if Int.random(in: 0..<3, using: &random) == 0 {
            return assignment(slot.size.map { .set(path, payload, of: $0) } ?? .set(path, payload), path, payload)
        }
        switch slot.value {
        case .int where slot.path.isEmpty, .null where slot.path.isEmpty:
            return [.add(path, value)]
        case .list(let elements):
            let size = UInt32(elements.count)
            let index = UInt32.random(in: 0...size, using: &random)
            let other = UInt32.random(in: 0...size, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where index < size: return [.remove(below(.index(index)), of: size)]
            case 1 where index < size && other < size && index != other:
                return [.move(below(.index(index)), to: other, of: size)]
            case 2: return [.clear(path, collection: .list)]
            default: return [.insert(below(.index(index)), payload, of: size)]
            }
        case .dictionary(let entries):
            let key = below(["k", "j"].randomElement(using: &random) ?? "k")
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where !entries.isEmpty: return [.set(key, .erased)]
            case 1: return [.clear(path, collection: .dictionary)]
            default: return assignment(.set(key, payload), key, payload)
            }
        default:
            return []
        }
    }

    private static func assignment(_ set: Instruction, _ path: FieldPath, _ payload: Payload) -> [Instruction] {
        switch payload {
        case .list: [set, .clear(path, collection: .list)]
        case .dictionary: [set, .clear(path, collection: .dictionary)]
        default: [set]
        }
    }
}
