extension JSON {
    /// Where two dumps of a realm, both sorted, differ first: the class and both sides' objects.
    func firstDifference(_ other: JSON) -> (place: String, expected: String, ours: String)? {
        guard case .object(let expected) = self, case .object(let ours) = other else {
            return self == other ? nil : ("the dump", text, other.text)
        }
        for name in Set(expected.keys).union(ours.keys).sorted() where expected[name] != ours[name] {
            guard case .array(let left)? = expected[name], case .array(let right)? = ours[name] else {
                return ("class \(name)", expected[name]?.text ?? "no such class", ours[name]?.text ?? "no such class")
            }
            let equal = zip(left, right).prefix { $0 == $1 }.count
            return (
                "class \(name)", equal < left.count ? left[equal].text : "no more objects",
                equal < right.count ? right[equal].text : "no more objects"
            )
        }
        return nil
    }
}
