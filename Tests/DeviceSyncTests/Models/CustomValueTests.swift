import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Properties of types that an app has made itself.
@Suite(.hangGuard)
struct CustomValueTests {
    struct Money: CustomPersistable {
        var cents: Int
        init(persistedValue: Int) { cents = persistedValue }
        var persistableValue: Int { cents }
    }

    /// An address of which not every text is one.
    struct Mail: FailableCustomPersistable {
        var text: String
        init?(persistedValue: String) {
            guard persistedValue.contains("@") else { return nil }
            text = persistedValue
        }
        var persistableValue: String { text }
    }

    final class Account: TestObject {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted var balance: Money
        @Persisted var limit: Money?
        @Persisted var history: List<Money>
        @Persisted var byName: Map<String, Money>
        @Persisted var mail: Mail?
    }

    private let folder = Folder()

    @Test func theyAreKeptAsTheTypeThatTheyName() throws {
        let realm = try Realm(configuration: Realm.Configuration(fileURL: folder.file, objectTypes: [Account.self]))
        let account = Account(value: ["_id": 1, "balance": 250, "mail": "a@b.c"])
        account.limit = Money(persistedValue: 1000)
        account.history.append(objectsIn: [Money(persistedValue: 3), Money(persistedValue: 1)])
        account.byName["x"] = Money(persistedValue: 7)
        try realm.write {
            realm.add(account)
            realm.add(Account(value: ["_id": 2]))
        }
        expectTrue(account.balance.cents == 250 && account.limit?.cents == 1000)
        expectTrue(account.history.map(\.cents) == [3, 1] && account.byName["x"]?.cents == 7)
        expectEqual(account.mail?.text, "a@b.c")
        expectTrue(realm.dynamicObject(ofType: "Account", forPrimaryKey: 1)?["balance"] as? Int == 250)
        let accounts = realm.objects(Account.self)
        expectEqual(accounts.where { $0.balance == Money(persistedValue: 250) }.map(\._id), [1])
        expectEqual(accounts.filter("balance > 100 AND limit == %@", Money(persistedValue: 1000)).count, 1)
        expectEqual(accounts.sorted(by: \.balance).map(\._id), [2, 1])
        // What another device may write.
        try realm.write { realm.dynamicObject(ofType: "Account", forPrimaryKey: 1)?["mail"] = "nobody" }
        expectTrue(account.mail == nil)
        expectEqual(Account().balance.cents, 0)
    }
}
