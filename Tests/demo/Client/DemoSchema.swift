import DeviceSync

/// The demo's app and its classes.
enum DemoSchema {
    static let app = "tasks-demo"

    static let classes = [
        ObjectSchemaDescription(
            "Task", primaryKey: PropertyDescription("_id", .string),
            properties: [PropertyDescription("title", .string), PropertyDescription("note", .string, isOptional: true)]),
        ObjectSchemaDescription(
            "Load", primaryKey: PropertyDescription("_id", .string), properties: [PropertyDescription("number", .int)]),
    ]
}
