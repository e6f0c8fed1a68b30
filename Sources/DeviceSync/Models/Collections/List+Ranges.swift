public import Foundation

extension List {
    /// Inserts elements before the one at a position.
    public func insert<C: Collection>(contentsOf elements: C, at position: Int) where C.Element == Element {
        for (offset, element) in Array(elements).enumerated() { insert(element, at: position + offset) }
    }

    /// Removes the elements at some positions.
    public func remove(atOffsets offsets: IndexSet) {
        for position in offsets.reversed() { remove(at: position) }
    }

    /// Moves the elements at some positions, in their order, to before the one that is now at another position, as lists of views ask for it.
    public func move(fromOffsets offsets: IndexSet, toOffset destination: Int) {
        precondition(
            destination >= 0 && destination <= count, "index \(destination), the collection has \(count) elements")
        // From the back to before the place, and then from the front to behind it: what is still to be moved stays where it is.
        var end = destination
        for position in offsets.filter({ $0 < destination }).reversed() {
            end -= 1
            if position != end { move(from: position, to: end) }
        }
        var next = destination
        for position in offsets.filter({ $0 >= destination }) {
            if position != next { move(from: position, to: next) }
            next += 1
        }
    }

    /// Removes the elements at the positions of a range, as in `removeSubrange(1...3)`.
    public func removeSubrange<R: RangeExpression<Int>>(_ range: R) { removeSubrange(range.relative(to: self)) }

    /// Puts elements in the place of those of a range, as in `replaceSubrange(..<2, with: [])`.
    public func replaceSubrange<C: Collection, R: RangeExpression<Int>>(_ range: R, with elements: C)
    where C.Element == Element {
        replaceSubrange(range.relative(to: self), with: elements)
    }

    /// A range of the elements; others, also of another number, can be put in its place.
    public subscript(_ range: Range<Int>) -> Slice<List<Element>> {
        get { Slice(base: self, bounds: range) }
        set { replaceSubrange(range, with: Array(newValue)) }
    }
}
