import DeviceSync

/// A fingerprint of everything that a copy of the realm holds, made from what an app can see.
enum CopyDigest {
    static func of(_ realm: Realm) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func mix(_ text: String) {
            for byte in text.utf8 + [0] {
                hash ^= UInt64(byte)
                hash = hash &* 0x0000_0100_0000_01b3
            }
        }
        for description in realm.dynamicSchema.sorted(by: { $0.name < $1.name }) {
            guard let key = description.primaryKey else { continue }
            let names = [key.name] + description.properties.map(\.name).sorted()
            let lines = realm.dynamicObjects(description.name).map { object in
                names.map { "\($0)=\(object[$0].map { "\($0)" } ?? "null")" }.joined(separator: "|")
            }
            mix(description.name)
            for line in lines.sorted() { mix(line) }
        }
        return String(hash, radix: 16)
    }
}
