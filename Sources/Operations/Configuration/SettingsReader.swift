import Configuration

/// Reads single settings as text and parses them here, so that every source gets the same precise errors.
struct SettingsReader {
    let reader: ConfigReader

    func text(_ key: String, isSecret: Bool = false) async throws(OperationsError) -> String? {
        do {
            return try await reader.fetchString(forKey: ConfigKey(stringLiteral: key), isSecret: isSecret)
        } catch {
            // The underlying error may quote the value.
            throw OperationsError(
                .invalidSetting, "setting \(key) must be a single value", underlying: isSecret ? nil : error)
        }
    }

    func read(_ key: String, into value: inout String) async throws(OperationsError) {
        guard let text = try await text(key) else { return }
        guard !text.isEmpty else { throw invalid(key, "a text that is not empty", text) }
        value = text
    }

    func read(_ key: String, into value: inout String?) async throws(OperationsError) {
        if let text = try await text(key) { value = text.isEmpty ? nil : text }
    }

    func read(_ key: String, into value: inout Secret) async throws(OperationsError) {
        if let text = try await text(key, isSecret: true) { value = Secret(text) }
    }

    /// A token that nobody must be able to guess.
    func readToken(_ key: String, into value: inout Secret) async throws(OperationsError) {
        try await read(key, into: &value)
        let count = value.revealed.utf8.count
        guard count == 0 || count >= Secret.minTokenBytes else {
            throw OperationsError(
                .invalidSetting,
                "setting \(key): expected at least \(Secret.minTokenBytes) bytes, found \(count); take one from: "
                    + "openssl rand -hex 32")
        }
    }

    func read(_ key: String, in range: ClosedRange<Int>, into value: inout Int) async throws(OperationsError) {
        var optional: Int?
        try await read(key, in: range, into: &optional)
        if let optional { value = optional }
    }

    func read(_ key: String, in range: ClosedRange<Int>, into value: inout Int?) async throws(OperationsError) {
        guard let text = try await text(key), !text.isEmpty else { return }
        guard let number = Int(text), range.contains(number) else {
            throw invalid(key, "a whole number from \(range.lowerBound) to \(range.upperBound)", text)
        }
        value = number
    }

    func readSeconds(
        _ key: String, in range: ClosedRange<Double>, into value: inout Duration
    ) async throws(OperationsError) {
        guard let text = try await text(key), !text.isEmpty else { return }
        guard let seconds = Double(text), range.contains(seconds) else {
            throw invalid(key, "seconds, from \(range.lowerBound) to \(range.upperBound)", text)
        }
        value = .seconds(seconds)
    }

    func readCase<Value: RawRepresentable<String> & CaseIterable>(
        _ key: String, into value: inout Value
    ) async throws(OperationsError) {
        guard let text = try await text(key), !text.isEmpty else { return }
        guard let found = Value(rawValue: text.lowercased()) else {
            let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw invalid(key, "one of \(names)", text)
        }
        value = found
    }

    func read(_ key: String, into value: inout AddressRanges) async throws(OperationsError) {
        guard let text = try await text(key), !text.isEmpty else { return }
        do {
            value = try AddressRanges(text)
        } catch {
            throw invalid(key, "addresses and networks (10.0.0.0/8), separated by commas", error.entry)
        }
    }

    /// A listener's certificate and key: both, or none.
    func readTLS(_ listener: String, into value: inout TLSFiles?) async throws(OperationsError) {
        let (certificate, key) = ("\(listener).tls_certificate", "\(listener).tls_key")
        let files = (try await text(certificate) ?? "", try await text(key) ?? "")
        switch (files.0.isEmpty, files.1.isEmpty) {
        case (true, true): value = nil
        case (false, false): value = TLSFiles(certificate: files.0, key: files.1)
        case (let noCertificate, _):
            throw OperationsError(
                .invalidSetting,
                "setting \(noCertificate ? key : certificate) needs \(noCertificate ? certificate : key), too: PEM files"
            )
        }
    }

    func read(_ key: String, into value: inout Bool) async throws(OperationsError) {
        guard let text = try await text(key), !text.isEmpty else { return }
        switch text.lowercased() {
        case "true", "yes", "on": value = true
        case "false", "no", "off": value = false
        default: throw invalid(key, "true or false", text)
        }
    }

    private func invalid(_ key: String, _ expected: String, _ came: String) -> OperationsError {
        OperationsError(.invalidSetting, "setting \(key): expected \(expected), found \"\(came.prefix(80))\"")
    }
}
