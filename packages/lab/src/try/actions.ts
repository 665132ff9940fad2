// cspell:disable -- verbs of many languages

/** Verbs that also match at the start of a word: `deleteall`, `logoutuser`. */
const strong =
  'delete destroy remove erase purge truncate logout logoff signout signoff shutdown uninstall unsubscribe deactivate terminate';
const verbs: Readonly<Record<string, string>> = {
  en: `${strong} abort accept ack activate add apply approve archive assign ban block boot bump buy callback cancel charge checkout
    claim clean cleanup clear close commit confirm crash create cron cronjob debit decline decommission decrement demote deploy deposit
    dequeue detach disable disconnect drain drop dump eject empty enable enqueue evict exec execute exit expire expunge flush follow
    force forget format gc generate halt impersonate import increment insert install invalidate invoke invite kill like lock mark merge
    migrate modify move mute notify nuke optin opt-in optout opt-out patch pause pay perform persist ping-back post-now poweroff prune
    publish purchase push put quit reboot rebuild recalculate recompute redeem refresh refund regenerate register reindex reject reload
    rename reopen repair replace reprocess requeue resend reset restart restore resume retry revalidate revert revoke rollback rotate
    run save schedule seed send set spawn start stop submit subscribe suspend swap switch sync synchronize tick toggle touch transfer
    trigger unassign unban unblock undo unfollow unlike unlink unlock unmute unpublish unregister update upgrade upload upsert vacuum
    verify vote webhook wipe withdraw write zap`,
  de: `abbrechen abmelden aktivieren aktualisieren anlegen ausloggen beenden bestaetigen bezahlen deaktivieren entfernen kaufen
    kuendigen leeren loesche loeschen neustart neustarten senden speichern stornieren verschicken versenden zuruecksetzen losche loschen
    bestatigen kundigen zurucksetzen`,
  fr: `acheter activer ajouter annuler arreter confirmer creer deconnecter deconnexion demarrer deployer desabonner desactiver effacer
    enregistrer envoyer executer modifier publier payer redemarrer reinitialiser retirer sauvegarder supprimer vider`,
  es: `activar actualizar agregar anadir anular apagar aprobar borrar cancelar cerrar comprar confirmar crear desactivar desconectar
    desconexion detener ejecutar eliminar enviar guardar publicar limpiar pagar quitar reiniciar restablecer salir vaciar`,
  pt: `adicionar apagar aprovar ativar atualizar cancelar comprar criar deletar desativar desconectar desligar encerrar enviar executar
    excluir limpar pagar parar publicar redefinir reiniciar remover sair salvar`,
  it: `acquista aggiorna aggiungi annulla annullare attiva cancella cancellare conferma crea disattiva disconnetti elimina eliminare
    esci esegui ferma invia inviare paga pagare riavvia rimuovere rimuovi salva svuota`,
  nl: `afmelden annuleer annuleren betaal betalen bevestig bijwerken herstart leegmaken opslaan stoppen toevoegen uitloggen verstuur
    versturen verwijder verwijderen verzend verzenden wissen`,
  pl: 'aktualizuj anuluj dodaj kup potwierdz skasuj usun utworz wyczysc wyloguj wyslij zaplac zapisz zatrzymaj',
  ru: `dobavit ochistit oplatit otmenit otpravit sbros sohranit sozdat udalit vyiti vyhod добавить выйти выход оплатить отменить
    отправить очистить сбросить создать сохранить удалить`,
  tr: 'cikis durdur ekle gonder guncelle iptal kaldir kaydet ode onayla sifirla sil temizle',
  sv: 'avbryt betala logga-ut loggaut lagg-till radera rensa skicka slett slet spara tabort ta-bort',
  id: 'batal batalkan bayar hapus keluar kirim simpan tambah ubah',
  zh: 'chongzhi fasong qingkong quxiao shanchu tuichu zhifu 删除 发送 取消 支付 清空 退出 重置',
  ja: 'ログアウト 作成 削除 更新 送信 sakujo',
  ko: '로그아웃 보내기 삭제 취소',
};

const known = new Set(Object.values(verbs).flatMap((each) => each.split(/\s+/)));
const starts = strong.split(' ');

/** Returns the first word of a path, in any of its segments, that looks like an action; undefined if none does. */
export function actionIn(path: string): string | undefined {
  return path.split('/').flatMap(wordsOf).find(isAction);
}

function isAction(word: string): boolean {
  return known.has(word) || starts.some((verb) => word.startsWith(verb));
}

/**
 * Splits a segment such as `resetAll`, `delete_all` or `log-out` into words, and adds joined neighbours: `log out` is also
 * `logout`.
 */
function wordsOf(segment: string): string[] {
  const text = decoded(segment)
    .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1-$2')
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll('ı', 'i')
    .replaceAll('ł', 'l')
    .normalize('NFC');
  const words = text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const pairs = words
    .slice(1)
    .flatMap((word, at) => [`${words[at]}${word}`, `${words[at]}-${word}`]);
  return [...words, ...pairs];
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
