import Changesets
import RealmState

extension Schema {
    /// The type of a property or an element, for people: `objectId or null`, `key of Person (int)`.
    func text(of element: ElementType, inList: Bool = false) -> String {
        var text = element.type.documentName
        if element.type == .link {
            if let table = embeddedTarget(of: element) {
                text = "\(table.name) as an object"
            } else if let target = element.target, let key = table(target)?.key {
                text = "the key of a \(target) (\(key.type.documentName))"
            }
        }
        let isNullable = element.type == .link ? !inList : element.nullable && !element.isMixed
        return isNullable ? "\(text) or null" : text
    }

    /// The type of a whole property, for people: `list of string`.
    func text(of column: ColumnSchema) -> String {
        switch column.collection {
        case .single: text(of: column.element)
        case .list: "an array of \(text(of: column.element, inList: true))"
        case .set: "an array without order of \(text(of: column.element, inList: true))"
        case .dictionary: "an object of \(text(of: column.element))"
        }
    }
}
