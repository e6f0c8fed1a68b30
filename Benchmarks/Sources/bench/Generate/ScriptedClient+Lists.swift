import Changesets

extension ScriptedClient {
    /// How often each kind of list edit is made.
    struct ListWeights {
        var insert = 50
        var assign = 20
        var erase = 20
        var move = 0
        var clear = 0
    }

    /// One random edit of a list.
    mutating func editList(
        _ object: ScriptedObject, _ field: String, _ steps: [ScriptedStep] = [], size first: UInt32,
        _ weights: ListWeights, _ value: (inout ScriptedClient) -> Payload
    ) {
        let size = listSize(object, field, steps, first: first)
        var choice = below(weights.insert + weights.assign + weights.erase + weights.move + weights.clear)
        func chosen(_ weight: Int) -> Bool {
            defer { choice -= weight }
            return choice >= 0 && choice < weight
        }
        let inserts = chosen(weights.insert)
        let assigns = chosen(weights.assign)
        let erases = chosen(weights.erase)
        let moves = chosen(weights.move)
        if inserts || size == 0 || (moves && size < 2) {
            insert(object, field, steps, at: UInt32(below(Int(size) + 1)), size: size, value(&self))
        } else if assigns {
            let target = path(object, field, steps + [.index(UInt32(below(Int(size))))])
            record(.update(.init(target: target, value: value(&self), qualifier: .priorSize(size))))
        } else if erases {
            erase(object, field, steps, at: UInt32(below(Int(size))), size: size)
        } else if moves {
            let from = UInt32(below(Int(size)))
            let to = (from + 1 + UInt32(below(Int(size) - 1))) % size
            record(.arrayMove(path(object, field, steps + [.index(from)]), to: to, priorSize: size))
        } else {
            record(.clear(path(object, field, steps), collection: .list))
            setListSize(object, field, steps, 0)
        }
    }

    mutating func insert(
        _ object: ScriptedObject, _ field: String, _ steps: [ScriptedStep] = [], at index: UInt32, size: UInt32,
        _ value: Payload
    ) {
        record(.arrayInsert(path(object, field, steps + [.index(index)]), value: value, priorSize: size))
        setListSize(object, field, steps, size + 1)
    }

    mutating func erase(
        _ object: ScriptedObject, _ field: String, _ steps: [ScriptedStep] = [], at index: UInt32, size: UInt32
    ) {
        record(.arrayErase(path(object, field, steps + [.index(index)]), priorSize: size))
        setListSize(object, field, steps, size - 1)
    }

    func listSize(
        _ object: ScriptedObject, _ field: String, _ steps: [ScriptedStep] = [], first: UInt32
    ) -> UInt32 {
        sizes[listName(object, field, steps)] ?? first
    }

    private mutating func setListSize(
        _ object: ScriptedObject, _ field: String, _ steps: [ScriptedStep], _ size: UInt32
    ) {
        sizes[listName(object, field, steps)] = size
    }

    private func listName(_ object: ScriptedObject, _ field: String, _ steps: [ScriptedStep]) -> String {
        "\(object.text) \(field) \(steps)"
    }
}
