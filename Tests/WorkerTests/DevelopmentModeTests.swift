import AMQP
import Changesets
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Whether clients may bring classes and properties along.
@Suite(.hangGuard) struct DevelopmentModeTests {
    @Test func classesThatClientsDeclareJoinTheAppsSchema() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema()]))
        try await expectEqual(
            harness.control.schema(ofApp: OwnerHarness.app),
            [
                SchemaElement(className: "Task", type: "object(_id: int)"),
                SchemaElement(className: "Task", property: "tags", type: "list<string>"),
                SchemaElement(className: "Task", property: "title", type: "string"),
            ])
    }

    @Test func withoutItAnUploadThatAddsAClassIsRefusedAndChangesNothing() async throws {
        let harness = try await OwnerHarness.make()
        try await harness.developmentMode(false)
        let file = try await harness.join(session: 1)
        let published = try await harness.send(harness.upload(file, [Changes.schema(), Changes.create(1)]))
        let refusal = try published.one(RefusedAnswer.self)
        expectEqual(refusal.code, 225)
        expectEqual(refusal.action, "ApplicationBug")
        expectTrue(!refusal.tryAgain)
        expectTrue(
            refusal.message.hasPrefix(
                #"Invalid schema change (UPLOAD): non-breaking schema change: adding schema for Realm table "Task", "#
                    + "schema changes from clients are restricted when developer mode is disabled; "))
        expectTrue(refusal.message.contains("Task (object(_id: int)) and 2 more would be new"))
        try expectTrue(published.every(IntegratedNotice.self).isEmpty)
        expectTrue(published.dead.isEmpty)
        try await expectEqual(harness.store.realm(harness.realm)?.latest.version, 0)
        try await expectTrue(harness.control.schema(ofApp: OwnerHarness.app).isEmpty)
        // Nothing is lost: once it may, the same upload goes through.
        try await harness.developmentMode(true)
        let notice = try await harness.send(harness.upload(file, [Changes.schema(), Changes.create(1)]))
            .one(IntegratedNotice.self)
        expectEqual(notice.latest.version, 2)
    }

    /// An owner remembers settings for a second, and a client does not come again after a refusal.
    @Test func turningOnDevelopmentModeTakesEffectAtOnce() async throws {
        let control = try await OwnerHarness.make().control
        let known = AppDirectory(store: control, lifetime: .seconds(600))
        let harness = try await OwnerHarness.make(control: control, apps: known)
        try await harness.developmentMode(false)
        let file = try await harness.join(session: 1)
        let refusal = try await harness.send(harness.upload(file, [Changes.schema()])).one(RefusedAnswer.self)
        expectEqual(refusal.code, 225)
        try await harness.developmentMode(true)
        let published = try await harness.send(harness.upload(file, [Changes.schema()]))
        try expectEqual(published.one(IntegratedNotice.self).latest.version, 1)
    }

    @Test func withoutItClientsGoOnWithWhatTheAppHas() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema()]))
        try await harness.developmentMode(false)
        // A second client declares the same classes, a first one goes on.
        let other = try await harness.join(session: 2)
        let joined = try await harness.send(harness.upload(other, session: 2, [Changes.schema(), Changes.create(2)]))
        try expectTrue(joined.every(RefusedAnswer.self).isEmpty)
        let more = try await harness.send(harness.upload(file, follows: 1, [Changes.create(1)]))
        try expectTrue(more.every(RefusedAnswer.self).isEmpty)
        try await expectEqual(harness.titles(), [1: "", 2: ""])
    }

    /// A store that ends texts at U+0000 would take them for others' names.
    @Test(arguments: [
        Changes.addColumn(ByteString("title\0x"), .int), Changes.addColumn(ByteString([0x74, 0xFF]), .int),
    ])
    func namesThatAreNoTextAreRefused(schema: [UInt8]) async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema()]))
        let refusal = try await harness.send(harness.upload(file, follows: 1, [schema])).one(RefusedAnswer.self)
        expectTrue(refusal.code == 225 && !refusal.tryAgain)
        expectTrue(refusal.message.contains("is no name of a class or property"))
        try await expectEqual(harness.control.schema(ofApp: OwnerHarness.app).count, 3)
    }

    @Test(arguments: [
        (Changes.eraseColumn("title"), "Task.title"), (Changes.eraseTable("Task"), "Task"),
        // Other clients may have made the class meanwhile.
        (Changes.eraseTable("Project"), "Project"),
    ])
    func noClientTakesAwayAClassOrProperty(erasure: [UInt8], name: String) async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema(), Changes.create(1, title: "one")]))
        let published = try await harness.send(harness.upload(file, follows: 2, [Changes.create(2), erasure]))
        let refusal = try published.one(RefusedAnswer.self)
        expectTrue(refusal.code == 225 && refusal.action == "ApplicationBug" && !refusal.tryAgain)
        expectTrue(refusal.message.hasSuffix("cannot change like this: \(name) may not be removed"))
        expectTrue(published.dead.isEmpty)
        try await expectEqual(harness.titles(), [1: "one"])
        try await expectEqual(harness.store.realm(harness.realm)?.latest.version, 2)
    }

    @Test func anOperatorTakesAwayAProperty() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema(), Changes.create(1, title: "one")]))
        try await harness.send(
            ChangesetMessage(
                realm: harness.realm, upload: nil,
                entries: [
                    .init(clientVersion: 0, serverVersion: 0, timestamp: 0, changeset: Changes.eraseColumn("title"))
                ]))
        try await expectEqual(harness.store.realm(harness.realm)?.latest.version, 3)
        try await expectEqual(harness.titles(), [:])
    }

    @Test func withoutItNoPropertyIsAddedOrTakenAwayByAClient() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema()]))
        try await harness.developmentMode(false)
        let stock =
            #"Invalid schema change (UPLOAD): non-breaking schema change: adding "%" column at field "new" in schema "#
            + #""Task", "# + "schema changes from clients are restricted when developer mode is disabled"
        for (change, text) in [
            (Changes.addColumn("done", .bool), "Task.done (bool) would be new"),
            (Changes.addColumn("new", .int), stock.replacing("%", with: "Int")),
            (Changes.addColumn("new", .objectID), stock.replacing("%", with: "ObjectID")),
            (Changes.addColumn("new", .timestamp), stock.replacing("%", with: "Timestamp")),
            (Changes.eraseColumn("title"), "Task.title may not be removed"),
        ] {
            let refusal = try await harness.send(harness.upload(file, follows: 1, [change])).one(RefusedAnswer.self)
            expectEqual(refusal.code, 225)
            expectTrue(refusal.message.contains(text))
        }
        // The realm is as it was.
        try await harness.send(harness.upload(file, follows: 1, [Changes.create(1, title: "one")]))
        try await expectEqual(harness.titles(), [1: "one"])
    }

    @Test func withoutItARealmsOwnSchemaMayBeDeclaredAgain() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema()]))
        // With another control store, as after one of an older time was put back: it does not know what realms have.
        let next = try await OwnerHarness.make(on: harness.store)
        try await next.developmentMode(false)
        try await expectTrue(next.control.schema(ofApp: OwnerHarness.app).isEmpty)
        let other = try await next.join(session: 2)
        let notice = try await next.send(next.upload(other, session: 2, [Changes.schema()]))
        try expectTrue(notice.every(RefusedAnswer.self).isEmpty)
    }

    @Test func aRefusedDeclarationDoesNotChangeTheAppsSchema() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema()]))
        let known = try await harness.control.schema(ofApp: OwnerHarness.app)
        // The same name with another type.
        let refusal = try await harness.send(harness.upload(file, follows: 1, [Changes.addColumn("title", .int)]))
            .one(RefusedAnswer.self)
        expectEqual(refusal.code, 212)
        try await expectEqual(harness.control.schema(ofApp: OwnerHarness.app), known)
    }

    @Test func operatorsMayAddClassesOutsideDevelopmentMode() async throws {
        let harness = try await OwnerHarness.make()
        try await harness.developmentMode(false)
        try await harness.send(
            ChangesetMessage(
                realm: harness.realm, upload: nil,
                entries: [.init(clientVersion: 0, serverVersion: 0, timestamp: 0, changeset: Changes.schema())]))
        // The class is the app's now, in every other realm of it, too.
        let file = try await harness.join(session: 1)
        let notice = try await harness.send(harness.upload(file, [Changes.schema()])).one(IntegratedNotice.self)
        expectEqual(notice.acknowledgements.map(\.upload.clientVersion), [1])
    }

    @Test func additionsOfOneUserAreBoundedAndOthersGoOn() async throws {
        var limits = WorkerLimits()
        limits.quotas[.userSchemaElements] = 3
        let harness = try await OwnerHarness.make(limits: limits)
        let file = try await harness.join(session: 1, user: "flood")
        try await harness.send(harness.upload(file, [Changes.schema()]))
        let refusal = try await harness.send(harness.upload(file, follows: 1, [Changes.addColumn("done", .bool)]))
            .one(RefusedAnswer.self)
        expectTrue(refusal.code == 225 && refusal.action == "ApplicationBug")
        expectTrue(refusal.message.contains("quota userSchemaElements"))
        let other = try await harness.join(session: 2, user: "calm")
        let joined = try await harness.send(
            harness.upload(other, session: 2, [Changes.schema(), Changes.addColumn("done", .bool)]))
        try expectTrue(joined.every(RefusedAnswer.self).isEmpty)
        try await expectTrue(harness.control.schema(ofApp: OwnerHarness.app).contains { $0.property == "done" })
    }

    @Test func elementsTakenBackMakeRoomAndHurtNoRealm() async throws {
        let harness = try await OwnerHarness.make()
        let many = (0..<SchemaElement.maxPerApp).map { SchemaElement(className: "C\($0)", type: "embedded") }
        try await harness.control.extendSchema(ofApp: OwnerHarness.app, with: many)
        let file = try await harness.join(session: 1)
        let refused = try await harness.send(harness.upload(file, [Changes.schema()])).one(RefusedAnswer.self)
        expectEqual(refused.code, 225)
        try await expectEqual(harness.control.reduceSchema(ofApp: OwnerHarness.app, by: many), many.count)
        _ = try await harness.send(harness.upload(file, [Changes.schema()])).one(IntegratedNotice.self)
        // The realm's own classes are taken back, too: the realm goes on with them, and in development mode they come
        // again.
        let own = try await harness.control.schema(ofApp: OwnerHarness.app)
        try await expectEqual(harness.control.reduceSchema(ofApp: OwnerHarness.app, by: own), 3)
        let more = try await harness.send(harness.upload(file, follows: 1, [Changes.create(1, title: "one")]))
        try expectTrue(more.every(RefusedAnswer.self).isEmpty)
        let other = try await harness.join(session: 2)
        try await harness.send(harness.upload(other, session: 2, [Changes.schema()]))
        try await expectEqual(harness.titles(), [1: "one"])
    }

    @Test func aSchemaHasABound() async throws {
        let harness = try await OwnerHarness.make()
        let many = (0..<SchemaElement.maxPerApp).map { SchemaElement(className: "C\($0)", type: "embedded") }
        try await harness.control.extendSchema(ofApp: OwnerHarness.app, with: many)
        let file = try await harness.join(session: 1)
        let refusal = try await harness.send(harness.upload(file, [Changes.schema()])).one(RefusedAnswer.self)
        expectEqual(refusal.code, 225)
        expectTrue(refusal.message.contains("20000 are allowed"))
        try await expectEqual(harness.control.schema(ofApp: OwnerHarness.app).count, SchemaElement.maxPerApp)
    }
}

extension OwnerHarness {
    fileprivate func developmentMode(_ isOn: Bool) async throws {
        _ = try await control.updateApp(Self.app) { $0.developmentMode = isOn }
    }
}
