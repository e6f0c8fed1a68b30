/// The objects that the incoming side of a run touches, so that a local operation on any other is passed over at the
/// cost of one look. The filter matters when many short runs go over one long history.
struct ObjectFilter {
    private var isTouched: [Bool] = []
    /// An erased class or column concerns every object.
    private var touchesAll = false

    /// Whether a local operation may have anything to meet.
    func mayMeet(_ operation: Operation) -> Bool {
        if touchesAll || operation.object == .none { return true }
        let number = Int(operation.object.number)
        return number < isTouched.count && isTouched[number]
    }

    mutating func add(_ list: OperationList) {
        touchesAll = list.mayContain(.eraseTable) || list.mayContain(.eraseColumn)
        for operation in list.operations where operation.object != .none {
            let number = Int(operation.object.number)
            if number >= isTouched.count {
                isTouched.append(contentsOf: repeatElement(false, count: number + 1 - isTouched.count))
            }
            isTouched[number] = true
        }
    }

    /// Undoes `add`, in the time that it took.
    mutating func remove(_ list: OperationList) {
        touchesAll = false
        for operation in list.operations where operation.object != .none {
            isTouched[Int(operation.object.number)] = false
        }
    }
}
