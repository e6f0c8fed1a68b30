import DeviceSync

/// The classes that the clients write.
enum FireSchema {
    static let classes = [
        ObjectSchemaDescription(
            "Entry", primaryKey: PropertyDescription("_id", .string), properties: [PropertyDescription("text", .string)]
        ),
        ObjectSchemaDescription(
            "Shared", primaryKey: PropertyDescription("_id", .string),
            properties: [
                PropertyDescription("count", .int), PropertyDescription("lines", .string, collection: .list),
            ]),
    ]
}
