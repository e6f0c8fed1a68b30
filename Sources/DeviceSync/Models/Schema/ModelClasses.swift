/// The model classes that a process has.
///
/// Without Objective-C nobody keeps a list of classes. What Swift does keep, for its own look-ups, are records of all types that the program and its libraries
/// declare; a class without generic parameters can be made of such a record.
enum ModelClasses {
    /// Every model class of the program and of the libraries that were loaded when this was first asked. Generic classes are not among them, and neither are
    /// those of libraries that are loaded later.
    static let all: [ObjectBase.Type] = {
        var classes: [ObjectBase.Type] = []
        withUnsafeMutablePointer(to: &classes) { classes in
            enumerateMetadataSections(
                { sections, classes in
                    classes?.assumingMemoryBound(to: [ObjectBase.Type].self).pointee += ModelClasses.classes(
                        in: sections)
                    return true
                }, classes)
        }
        return classes.filter { $0 != Object.self && $0 != EmbeddedObject.self && $0 != AsymmetricObject.self }
    }()

    /// The classes that a realm has whose configuration names none. Classes without properties are left out: they are only the base of other models.
    static var ofDefaultSchema: [ObjectBase.Type] {
        all.filter { $0.shouldIncludeInDefaultSchema() && !ModelSchema.of($0).all.isEmpty }
    }

    // MARK: - Swift's records of types

    /// A part of a loaded image.
    private struct Section {
        var start: UInt
        var length: Int
    }

    /// The offsets in what the runtime says of an image: the number of its layout and the image's address, two unused words, then a section for protocols, one for
    /// conformances and one for types.
    private static let typesOffset = 8 * MemoryLayout<UInt>.size

    private static func classes(in sections: UnsafeRawPointer) -> [ObjectBase.Type] {
        let types = sections.load(fromByteOffset: typesOffset, as: Section.self)
        guard let start = UnsafeRawPointer(bitPattern: types.start) else { return [] }
        return (0..<types.length / 4).compactMap { modelClass(start + 4 * $0) }
    }

    /// The class of a record; nil if it is none, or no model.
    private static func modelClass(_ record: UnsafeRawPointer) -> ObjectBase.Type? {
        let reference = record.load(as: Int32.self)
        // The low bits say how the description is referred to; 0 is directly.
        guard reference != 0, reference & 3 == 0 else { return nil }
        let description = record + Int(reference)
        let flags = description.load(as: UInt32.self)
        let (kind, isGeneric) = (flags & 0x1F, flags & 0x80 != 0)
        guard kind == 16, !isGeneric else { return nil }
        // A model has a superclass; its absence spares most classes from being made.
        guard description.load(fromByteOffset: 20, as: Int32.self) != 0 else { return nil }
        let accessor = description.load(fromByteOffset: 12, as: Int32.self)
        guard accessor != 0 else { return nil }
        // Makes the class if it has to. Both of the calling conventions pass one integer and return one pointer alike.
        let make = unsafeBitCast(description + 12 + Int(accessor), to: (@convention(c) (Int) -> UnsafeRawPointer).self)
        return unsafeBitCast(make(0), to: Any.Type.self) as? ObjectBase.Type
    }
}

/// Calls `body` for each loaded image that has Swift's records, until it returns false. (Swift's runtime.)
@_silgen_name("swift_enumerateAllMetadataSections")
private func enumerateMetadataSections(
    _ body: @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer?) -> Bool, _ context: UnsafeMutableRawPointer?)
