import TestSupport
import Testing

@testable import DeviceSync

/// What a realm says of its classes, in Realm's words.
@Suite(.hangGuard)
struct SchemaTests {
    private let folder = Folder()

    @Test func aRealmNamesItsClassesWithTheirProperties() throws {
        let realm = try folder.models()
        let person = try #require(realm.schema["Person"])
        expectTrue(person.objectClass == Person.self && person.primaryKeyProperty?.name == "_id")
        expectTrue(realm.schema["Nobody"] == nil && person["nothing"] == nil)
        expectTrue(person["dogs"]?.type == .object && person["dogs"]?.isArray == true)
        expectTrue(person["dogs"]?.objectClassName == "Dog" && person["dogs"]?.isOptional == false)
        expectTrue(person["bestDog"]?.isOptional == true && person["scores"]?.isMap == true)
        expectTrue(person["friends"]?.isSet == true && person["anything"]?.type == .any)
        let dog = try #require(realm.schema["Dog"])
        expectTrue(dog["owners"]?.type == .linkingObjects && !dog.properties.contains { $0.name == "owners" })
        expectTrue(dog["name"]?.isIndexed == true && dog["_id"]?.isIndexed == true && dog["age"]?.isIndexed == false)
        expectTrue(realm.schema["Street"]?.isEmbedded == true && Dog().objectSchema == dog && dog != person)
        expectTrue(Dog.sharedSchema() == dog && realm.schema == realm.schema)
    }

    @Test func classesArePrintedLineByLine() throws {
        let text = Entry().objectSchema.description
        expectEqual(
            text,
            "Entry {\n\ttext {\n\t\ttype = string;\n\t\tcolumnName = text;\n\t\tindexed = NO;\n\t\tisPrimary = NO;\n\t\tarray = NO;\n"
                + "\t\tset = NO;\n\t\tdictionary = NO;\n\t\toptional = NO;\n\t}\n}")
        expectTrue(try folder.models().schema.description.hasPrefix("Schema {\n\tCity {\n\t\t_id {"))
    }

    @Test func aFileTellsItsSchemaVersion() throws {
        expectTrue(
            {
                do {
                    _ = try schemaVersionAtURL(folder.file)
                    return false
                } catch Realm.Error.fileNotFound {
                    return true
                } catch {
                    return false
                }
            }())
        var configuration = folder.modelConfiguration
        configuration.schemaVersion = 3
        _ = try Realm(configuration: configuration)
        expectEqual(try schemaVersionAtURL(folder.file), 3)
    }

    @Test func classesWithoutModelsAreDescribedAsTheFileHasThem() throws {
        let realm = try Realm(configuration: folder.configuration)
        let schema = try #require(realm.schema.objectSchema.first { !$0.isEmbedded })
        expectTrue(schema.objectClass == DynamicObject.self && schema.primaryKeyProperty?.name == "_id")
        expectTrue(realm.dynamicSchema.contains { $0.name == schema.className })
    }
}
