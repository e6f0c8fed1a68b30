internal import Changesets
internal import RealmState

/// How the objects of a class differ between two states, as positions in key order.
struct CollectionDifference {
    var deletions: [Int] = []
    var insertions: [Int] = []
    var modifications: [Int] = []

    var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

    init(_ className: ByteString, from old: RealmState, to new: RealmState) {
        let before = old.objects(of: className).sorted { $0.key < $1.key }
        let after = new.objects(of: className).sorted { $0.key < $1.key }
        var left = 0
        var right = 0
        while left < before.count || right < after.count {
            if right == after.count || (left < before.count && before[left].key < after[right].key) {
                deletions.append(left)
                left += 1
            } else if left == before.count || after[right].key < before[left].key {
                insertions.append(right)
                right += 1
            } else {
                if before[left].object != after[right].object { modifications.append(right) }
                left += 1
                right += 1
            }
        }
    }
}
