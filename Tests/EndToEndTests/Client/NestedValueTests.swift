import DeviceSync
import Foundation
import LocalCluster
import Synchronization
import TestSupport
import Testing

/// A form whose answers are whatever the person gives: values, lists and dictionaries.
final class Form: Object {
    @Persisted(primaryKey: true) var _id: String
    @Persisted var answers: AnyRealmValue
    @Persisted var pages: List<AnyRealmValue>
    @Persisted var byName: Map<String, AnyRealmValue>

    /// Other tests of this process have realms of all models of the program.
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

extension SharedClusterTests {
    /// Lists and dictionaries in values of any type, by a running cluster.
    @MainActor @Suite struct NestedValueTests {
        private func phone(of app: String) async throws -> Phone {
            let user = try await Phone.user(of: app)
            var configuration = user.configuration(partitionValue: "home")
            configuration.objectTypes = [Form.self]
            return try await Phone(user, configuration)
        }

        private func form(_ phone: Phone) throws -> Form {
            try #require(phone.realm.object(ofType: Form.self, forPrimaryKey: "f"))
        }

        private func change(_ phone: Phone, _ body: (Form) throws -> Void) throws {
            let form = try form(phone)
            try phone.realm.write { try body(form) }
        }

        /// One phone makes the form, the other gets it; the changes of both inside of it, made online, offline and over
        /// a client reset, end up with both.
        @Test(arguments: ["stockClients", "convergent"])
        func changesOfTwoPhonesInsideOneValueReachBoth(compatibility: String) async throws {
            let cluster = try SharedCluster.cluster
            let app = try await cluster.newApp("--compatibility", compatibility)
            let one = try await phone(of: app)
            try one.realm.write {
                let form = Form(value: [
                    "_id": "f", "answers": ["rooms": [["name": "hall"]], "pets": ["dog"]] as AnyRealmValue,
                ])
                form.pages.append(["first", ["x": 1]])
                form.byName["Ada"] = ["age": [36]]
                one.realm.add(form)
            }
            try await one.upload()
            let other = try await phone(of: app)
            try expectEqual(form(other).answers, ["rooms": [["name": "hall"]], "pets": ["dog"]])
            try expectTrue(
                Array(form(other).pages) == [["first", ["x": 1]]] && form(other).byName["Ada"]?["age"]?[0] == 36)

            // Online: the other phone's live list shows what is written here, and its object reports it.
            let rooms = try #require(try form(other).answers["rooms"]?.listValue)
            let changes = Mutex(0)
            let token = try form(other).observe(keyPaths: [\.answers], on: .main) { (change: ObjectChange<Form>) in
                if case .change = change { changes.withLock { $0 += 1 } }
            }
            try change(one) {
                $0.answers["rooms"]?.listValue?.append(.fromDictionary(["name": "attic", "area": 12.5]))
            }
            try await eventually("the list shows the new element") { rooms.count == 2 && rooms[1]["area"] == 12.5 }
            try await eventually("the object has reported its change") { changes.withLock { $0 } > 0 }
            token.invalidate()

            // Offline, inside of the same collections.
            try await one.suspend()
            try await other.suspend()
            try change(one) { form in
                form.answers["rooms"]?.listValue?.insert(["name": "cellar"], at: 0)
                form.answers["rooms"]?[1]?.dictionaryValue?["floor"] = ["stone"]
                form.pages[0][1]?.dictionaryValue?["one"] = [1]
                form.byName["Ada"]?.dictionaryValue?["age"] = [37]
            }
            try change(other) { form in
                form.answers["rooms"]?[0]?.dictionaryValue?["doors"] = 2
                form.answers["pets"]?.listValue?.append("cat")
                form.pages[0][1]?.dictionaryValue?["other"] = .fromDictionary([:])
                form.byName["Bob"] = [[]]
            }
            for phone in [one, other] {
                try phone.session.resume()
                try await phone.upload()
            }
            for phone in [one, other] { try await phone.download() }
            let answers: AnyRealmValue = [
                "rooms": [
                    ["name": "cellar"], ["name": "hall", "floor": ["stone"], "doors": 2],
                    ["name": "attic", "area": 12.5],
                ], "pets": ["dog", "cat"],
            ]
            for phone in [one, other] {
                let form = try form(phone)
                expectEqual(form.answers, answers)
                expectEqual(Array(form.pages), [["first", ["x": 1, "one": [1], "other": [:]]]])
                expectTrue(form.byName["Ada"] == ["age": [37]] && form.byName["Bob"] == [[]])
            }

            // A client reset keeps what was written offline inside.
            try await one.suspend()
            try change(one) { $0.answers["pets"]?.listValue?.insert("fish", at: 0) }
            try change(other) { $0.answers["rooms"]?[2]?.dictionaryValue?["area"] = 13 }
            try await other.upload()
            try await cluster.operate("sync", "terminate", app, "--yes", "--enable")
            try one.session.resume()
            try await one.upload()
            try await other.upload()
            for phone in [one, other] { try await phone.download() }
            for phone in [one, other] {
                let form = try form(phone)
                expectTrue(form.answers["pets"] == ["fish", "dog", "cat"] && form.answers["rooms"]?[2]?["area"] == 13)
                expectEqual(phone.realm.objects(Form.self).where { $0.answers["rooms"].any["area"] == 13 }.count, 1)
            }
        }
    }
}
