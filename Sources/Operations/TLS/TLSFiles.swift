/// Where a listener's certificate and its key are: PEM files, the certificate with its chain.
package struct TLSFiles: Sendable, Equatable {
    package var certificate: String
    package var key: String
}
