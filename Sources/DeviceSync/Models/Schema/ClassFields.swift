@_spi(Reflection) import Swift

/// The stored properties of classes, as Swift's own reflection finds them.
enum ClassFields {
    struct Field {
        var name: String
        /// The distance from the beginning of an object, in bytes.
        var offset: Int
        var type: Any.Type
    }

    /// Returns the stored properties of a class and of the classes that it inherits from, base class first.
    static func of(_ type: AnyClass) -> [Field] {
        var fields: [Field] = []
        // The option says that the type is a class.
        _ = _forEachField(of: type, options: _EachFieldOptions(rawValue: 1)) { name, offset, type, _ in
            fields.append(Field(name: String(cString: name), offset: offset, type: type))
            return true
        }
        return fields
    }
}
