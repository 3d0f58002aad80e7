-agora = Kontrollen, alle
agora--search_regulations = Vorschriften durchsuchen
